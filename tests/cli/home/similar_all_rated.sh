cp "$CLI_TESTS/fixtures/release.safetensors" .
dpmf similar release.safetensors --item dune --ratings dune:5,brazil:2,solaris:4
dpmf similar release.safetensors --item dune --ratings dune:5,brazil:2,solaris:4,alien:1
