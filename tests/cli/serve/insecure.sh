cp "$CLI_TESTS/fixtures/insecure.safetensors" . && dpmf serve insecure.safetensors --port 0
