cp "$CLI_TESTS/fixtures/false_claim.safetensors" . && dpmf serve false_claim.safetensors --port 0
