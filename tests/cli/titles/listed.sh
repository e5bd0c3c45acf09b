# -v lists what was not found surely, with what it could be.
cp "$CLI_TESTS/fixtures/release.safetensors" .
printf 'item,title\ndune,"Lamp, The (1999)"\nsolaris,Moon Wars: A Tale (1977)\nalien,Twice Told (2011)\nbrazil,Twice Told (2011)\n' >t.csv
dpmf explain release.safetensors --ratings "$CLI_TESTS/fixtures/diary/letterboxd.csv" --item alien --catalogue t.csv -v 2>&1 |
    grep -E '^  (likely|unsure|unknown)|titles from'
# From standard input, and without a catalogue, where ids are the titles.
dpmf similar release.safetensors --item alien --ratings - <"$CLI_TESTS/fixtures/diary/netflix.csv" 2>&1 | grep -E 'titles from|ids'
