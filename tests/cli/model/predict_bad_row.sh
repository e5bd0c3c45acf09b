# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_model m.safetensors
printf 'ann,dune\nbob\n' >pairs.csv
dpmf predict m.safetensors pairs.csv
