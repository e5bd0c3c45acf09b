cp "$CLI_TESTS/fixtures/release.safetensors" .
dpmf predict release.safetensors
echo $?
dpmf predict release.safetensors --ratings dune:5 --history train.csv
echo $?
dpmf predict release.safetensors - --ratings -
