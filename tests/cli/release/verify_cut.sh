head -c 1000 "$CLI_TESTS/fixtures/release.safetensors" >cut.safetensors
dpmf privacy verify cut.safetensors
