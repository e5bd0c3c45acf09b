cp "$CLI_TESTS/fixtures/release.safetensors" .
mkdir mine
dpmf recommend release.safetensors --ratings mine
