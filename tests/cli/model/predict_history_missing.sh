# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_model m.safetensors
printf 'zoe,alien\n' | dpmf predict m.safetensors - --history nowhere.csv
