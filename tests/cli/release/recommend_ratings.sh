printf 'dune,5\nbrazil,2\n' >mine.csv
cp "$CLI_TESTS/fixtures/release.safetensors" .
dpmf recommend release.safetensors --ratings mine.csv -n 2
