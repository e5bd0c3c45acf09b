# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_model m.safetensors
dpmf recommend m.safetensors --user ann -n 0
dpmf recommend m.safetensors --all-users -n 1001
