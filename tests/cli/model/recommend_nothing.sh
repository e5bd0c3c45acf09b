# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_model m.safetensors
printf 'stalker\n' >shelf.txt
dpmf recommend m.safetensors --user ann --include shelf.txt
