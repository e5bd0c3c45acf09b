cp "$CLI_TESTS/fixtures/release.safetensors" . && dpmf privacy show release.safetensors
