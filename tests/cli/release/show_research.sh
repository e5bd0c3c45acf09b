cp "$CLI_TESTS/fixtures/research.safetensors" . && dpmf privacy show research.safetensors |
    head -n 19
