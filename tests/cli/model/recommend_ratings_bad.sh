# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_model m.safetensors
printf 'dune,5\nbrazil,good\n' >mine.csv
dpmf recommend m.safetensors --ratings mine.csv
