cp "$CLI_TESTS/fixtures/release.safetensors" .
printf 'item,title\n1,One\n2,Two\n' >items.csv
dpmf serve release.safetensors --port 0 --catalogue items.csv
