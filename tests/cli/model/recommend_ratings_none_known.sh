# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_model m.safetensors
printf 'stalker,5\n' >mine.csv
dpmf recommend m.safetensors --ratings mine.csv
