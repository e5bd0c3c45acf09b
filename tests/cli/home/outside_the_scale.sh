cp "$CLI_TESTS/fixtures/release.safetensors" .
dpmf predict release.safetensors --ratings dune:50,brazil:0,alien:3
