cp "$CLI_TESTS/fixtures/biases.safetensors" . && dpmf privacy verify biases.safetensors
