cp "$CLI_TESTS/fixtures/biases.safetensors" . && dpmf privacy show biases.safetensors
