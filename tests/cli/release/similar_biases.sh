cp "$CLI_TESTS/fixtures/biases.safetensors" . && dpmf similar biases.safetensors --item dune
