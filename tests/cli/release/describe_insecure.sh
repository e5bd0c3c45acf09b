cp "$CLI_TESTS/fixtures/insecure.safetensors" . && dpmf describe insecure.safetensors
