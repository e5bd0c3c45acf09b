cp "$CLI_TESTS/fixtures/insecure.safetensors" . && dpmf privacy show insecure.safetensors |
    head -n 27
