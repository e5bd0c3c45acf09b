# New items by public features, from the fixture's four; its parent comes back byte by byte.
cp "$CLI_TESTS/fixtures/release.safetensors" .
printf 'item\ngattaca\nalien\nstalker\n' >new.csv
printf 'item,kind\ndune,a\nsolaris,a\nalien,a\nbrazil,b\ngattaca,a\n' >features.csv
dpmf release extend release.safetensors --catalogue new.csv --item-features features.csv \
    -o extended.safetensors
dpmf privacy verify extended.safetensors
dpmf privacy show extended.safetensors | sed -n '/^Items that were added/,/^What is not/p' |
    sed "s/dpmf [0-9][0-9.]*/dpmf VERSION/"
dpmf describe extended.safetensors --json | grep -o '"items":[0-9]*'
dpmf recommend extended.safetensors --ratings dune:5 -n 5 --by rating -q --json |
    grep -o '"item":"[a-z]*"'
dpmf release parent extended.safetensors -o parent.safetensors
cmp release.safetensors parent.safetensors && echo "the same"
dpmf release extend release.safetensors --catalogue new.csv --item-features features.csv \
    -o extended.safetensors --replace -q --json |
    sed -E 's/"release_id":"[0-9a-f]{32}"/"release_id":"***"/'
