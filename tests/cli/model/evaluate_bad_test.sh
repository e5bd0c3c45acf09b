# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_model m.safetensors
printf 'ann,solaris,4\nbob,dune,much\n' >test.csv
dpmf evaluate m.safetensors test.csv
