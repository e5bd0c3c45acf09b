cp "$CLI_TESTS/fixtures/false_claim.safetensors" . && dpmf privacy verify false_claim.safetensors
