cp "$CLI_TESTS/fixtures/release.safetensors" . && dpmf describe --json release.safetensors
