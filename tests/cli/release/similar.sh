cp "$CLI_TESTS/fixtures/release.safetensors" . && dpmf similar release.safetensors --item dune
