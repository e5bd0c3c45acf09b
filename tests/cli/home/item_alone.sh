# One item without a rating could be a file: both readings are said.
cp "$CLI_TESTS/fixtures/release.safetensors" .
dpmf recommend release.safetensors --ratings dune
