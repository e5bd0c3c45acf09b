cp "$CLI_TESTS/fixtures/false_claim.safetensors" . && dpmf privacy show false_claim.safetensors
