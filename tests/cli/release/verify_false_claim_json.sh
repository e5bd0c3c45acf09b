cp "$CLI_TESTS/fixtures/false_claim.safetensors" . &&
    dpmf privacy verify --json false_claim.safetensors
