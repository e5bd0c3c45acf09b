cp "$CLI_TESTS/fixtures/release.safetensors" .
dpmf serve release.safetensors -q --port 0 >&-
