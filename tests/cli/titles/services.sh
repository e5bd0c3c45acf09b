# Files as services export them: recognised, matched with the catalogue, and what was not found is
# said.
cp "$CLI_TESTS/fixtures/release.safetensors" .
printf '%s\n' item,title 'dune,"Lamp, The (1999)"' 'solaris,Moon Wars: A Tale (1977)' \
    'alien,Twice Told (2011)' 'brazil,The Lamps - Glow' >t.csv
for file in "$CLI_TESTS"/fixtures/diary/*; do
    echo "$(basename "$file"):"
    dpmf predict release.safetensors --ratings "$file" --catalogue t.csv --json -q | head -1 |
        grep -c prediction
    dpmf recommend release.safetensors --ratings "$file" --catalogue t.csv \
        --json 2>notes >items || echo "exit $?"
    grep -oE '"item":"[a-z]*"' items | tr '\n' ' '
    echo
    grep -v 'warning: release' notes
done
