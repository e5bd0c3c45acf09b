# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_model m.safetensors
printf 'zoe,dune,5\nzoe,brazil,much\n' >history.csv
printf 'zoe,alien\n' | dpmf predict m.safetensors - --history history.csv
