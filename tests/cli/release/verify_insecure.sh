cp "$CLI_TESTS/fixtures/insecure.safetensors" . && dpmf privacy verify insecure.safetensors
