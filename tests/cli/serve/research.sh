cp "$CLI_TESTS/fixtures/research.safetensors" . && dpmf serve research.safetensors --port 0
