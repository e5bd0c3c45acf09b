# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_model m.safetensors
printf 'dune\nbrazil\nstalker\n' >some.txt
dpmf recommend m.safetensors --user bob --include some.txt
dpmf recommend -q m.safetensors --user bob --exclude some.txt
