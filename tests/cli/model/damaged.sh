# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_model m.safetensors
head -c 1000 m.safetensors >cut.safetensors
dpmf recommend cut.safetensors --user ann
