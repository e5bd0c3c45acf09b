cp "$CLI_TESTS/fixtures/release.safetensors" .
dpmf serve release.safetensors --port 0 --catalogue items.csv
