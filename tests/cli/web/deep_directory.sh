dpmf export "$CLI_TESTS/fixtures/release.safetensors" --web a/b -q
