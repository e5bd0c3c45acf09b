# What one rated, on the command line itself: the four verbs that work at home.
cp "$CLI_TESTS/fixtures/release.safetensors" .
dpmf recommend release.safetensors --ratings dune:5,brazil:2
dpmf predict release.safetensors --ratings dune:5,brazil:2
dpmf similar release.safetensors --item dune --ratings dune:5,brazil:2
dpmf explain release.safetensors --item solaris --ratings dune:5,brazil:2
