# What is so far off is no rating but a time or an id.
cp "$CLI_TESTS/fixtures/release.safetensors" .
printf 'me,dune,978300760\n' | dpmf recommend release.safetensors --ratings -
echo $?
dpmf recommend release.safetensors --ratings dune:-978300760
echo $?
printf 'dune,100\n' | dpmf predict release.safetensors --ratings - --rescale 0:100=1:5
