cp "$CLI_TESTS/fixtures/release.safetensors" .
printf 'ann,dune,5\nann,brazil,x\n' >train.csv
dpmf recommend release.safetensors --history train.csv
