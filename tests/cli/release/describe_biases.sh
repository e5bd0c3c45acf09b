cp "$CLI_TESTS/fixtures/biases.safetensors" . && dpmf describe biases.safetensors
