head -c 1500 "$CLI_TESTS/fixtures/release.safetensors" >release.safetensors
dpmf serve release.safetensors --port 0
