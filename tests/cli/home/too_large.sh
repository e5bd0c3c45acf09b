# A number that no float holds, in a table and in a store.
cp "$CLI_TESTS/fixtures/release.safetensors" .
printf 'dune,1e300\n' | dpmf recommend release.safetensors --ratings -
echo $?
printf 'me,dune,1e300\n' >mine.csv
dpmf recommend release.safetensors --ratings mine.csv
