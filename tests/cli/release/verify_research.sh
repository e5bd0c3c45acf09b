cp "$CLI_TESTS/fixtures/research.safetensors" . && dpmf privacy verify research.safetensors
