# Three columns without names: user, item and rating, unless only item, rating and time fit.
cp "$CLI_TESTS/fixtures/release.safetensors" .
dpmf predict release.safetensors --ratings dune:5,brazil:2 | tee expected
printf 'dune,5,978300760\n' | dpmf predict release.safetensors --ratings -
printf 'dune,5,978300760\nbrazil,2,978300761\n' >times.csv
dpmf predict release.safetensors --ratings times.csv | cmp - expected
# Someone who is called as an item is.
printf 'dune,dune,5\ndune,brazil,2\n' | dpmf predict release.safetensors --ratings - |
    cmp - expected
# One row that does not fit: the usual reading, which says what is wrong.
printf 'dune,5,978300760\nstalker,2,978300761\n' | dpmf predict release.safetensors --ratings -
