# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_model m.safetensors
tiny_history history.csv
dpmf recommend m.safetensors --all-users -n 2 --history history.csv
dpmf recommend m.safetensors --all-users -n 1 --json
