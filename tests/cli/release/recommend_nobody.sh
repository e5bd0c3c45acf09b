cp "$CLI_TESTS/fixtures/release.safetensors" .
dpmf recommend release.safetensors
