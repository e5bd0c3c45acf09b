# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_model m.safetensors
dpmf recommend m.safetensors --user an -n 2
dpmf recommend m.safetensors --user nobody -n 1 --json
