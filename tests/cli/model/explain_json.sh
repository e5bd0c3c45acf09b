# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_model m.safetensors
# The parts add up to the prediction.
printf 'dune,5\nbrazil,1\n' >mine.csv
dpmf explain m.safetensors --item solaris --ratings mine.csv --json
