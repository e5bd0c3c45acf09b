# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_model m.safetensors
tiny_history history.csv
dpmf recommend m.safetensors --user ann -n 1 --history history.csv
dpmf recommend m.safetensors --user ann --history history.csv --json
