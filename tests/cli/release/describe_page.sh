cp "$CLI_TESTS/fixtures/release.safetensors" . && dpmf describe release.safetensors
