touch site
dpmf export "$CLI_TESTS/fixtures/release.safetensors" --web site -q
