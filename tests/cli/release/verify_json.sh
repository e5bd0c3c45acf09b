cp "$CLI_TESTS/fixtures/release.safetensors" . && dpmf privacy verify --json release.safetensors
