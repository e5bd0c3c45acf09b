# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_model m.safetensors
dpmf similar m.safetensors --item dune
dpmf similar m.safetensors --item dune -n 1 --json
