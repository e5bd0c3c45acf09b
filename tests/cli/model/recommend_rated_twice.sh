# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_model m.safetensors
printf 'item,rating\ndune,1\ndune,5\n' >twice.csv
printf 'item,rating\ndune,5\n' >once.csv
dpmf recommend m.safetensors --ratings twice.csv | tee a
dpmf recommend m.safetensors --ratings once.csv >b && cmp a b
