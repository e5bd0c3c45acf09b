cp "$CLI_TESTS/fixtures/release.safetensors" . && dpmf privacy verify release.safetensors
