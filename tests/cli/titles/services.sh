# Files as services export them: recognised, matched with the catalogue, and what was not found is
# said.
cp "$CLI_TESTS/fixtures/release.safetensors" .
printf 'item,title\ndune,"Lamp, The (1999)"\nsolaris,Moon Wars: A Tale (1977)\nalien,Twice Told (2011)\nbrazil,The Lamps - Glow\n' >t.csv
for file in "$CLI_TESTS"/fixtures/diary/*; do
    echo "$(basename "$file"):"
    dpmf predict release.safetensors --ratings "$file" --catalogue t.csv --json -q | head -1 | grep -c prediction
    dpmf recommend release.safetensors --ratings "$file" --catalogue t.csv --json 2>notes >items || echo "exit $?"
    grep -oE '"item":"[a-z]*"' items | tr '\n' ' '
    echo
    grep -v 'warning: release' notes
done
