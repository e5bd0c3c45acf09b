# They are counted, the first is named, and what was meant is guessed.
cp "$CLI_TESTS/fixtures/release.safetensors" .
dpmf predict release.safetensors --ratings dune:5,solariss:4,stalker:3
printf 'me,dune,5\nme,stalker,3\n' | dpmf predict release.safetensors --ratings -
