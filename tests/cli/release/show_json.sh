cp "$CLI_TESTS/fixtures/release.safetensors" . && dpmf privacy show --json release.safetensors
