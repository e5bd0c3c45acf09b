# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_model m.safetensors
tiny_history history.csv
dpmf import -q history.csv -o history.dpr
dpmf predict m.safetensors history.dpr
