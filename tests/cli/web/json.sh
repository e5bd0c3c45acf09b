cp "$CLI_TESTS/fixtures/release.safetensors" .
dpmf export release.safetensors --web 'a b' --json -q |
    sed -E "s|$PWD|HERE|; s/\"bytes_written\":[0-9]+/\"bytes_written\":N/; \
s/\"seconds\":[0-9.e-]+/\"seconds\":S/"
