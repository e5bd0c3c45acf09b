# A file of that name is a file, whatever it looks like.
cp "$CLI_TESTS/fixtures/release.safetensors" .
printf 'brazil,5\n' >dune:5
dpmf predict release.safetensors --ratings dune:5
rm dune:5
dpmf predict release.safetensors --ratings dune:5
