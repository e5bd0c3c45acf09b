# -v lists what was not found surely, with what it could be.
cp "$CLI_TESTS/fixtures/release.safetensors" .
printf '%s\n' item,title 'dune,"Lamp, The (1999)"' 'solaris,Moon Wars: A Tale (1977)' \
    'alien,Twice Told (2011)' 'brazil,Twice Told (2011)' >t.csv
dpmf explain release.safetensors --ratings "$CLI_TESTS/fixtures/diary/letterboxd.csv" \
    --item alien --catalogue t.csv -v 2>&1 |
    grep -E '^  (likely|unsure|unknown)|titles from'
# From standard input, and without a catalogue, where ids are the titles.
dpmf similar release.safetensors --item alien --ratings \
    - <"$CLI_TESTS/fixtures/diary/netflix.csv" 2>&1 | grep -E 'titles from|ids'
