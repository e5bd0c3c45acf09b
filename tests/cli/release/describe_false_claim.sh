cp "$CLI_TESTS/fixtures/false_claim.safetensors" . && dpmf describe false_claim.safetensors &&
    dpmf describe --json false_claim.safetensors
