# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_model m.safetensors
printf 'ann,solaris,4\n' | dpmf evaluate m.safetensors - --ranking --history nowhere.csv
