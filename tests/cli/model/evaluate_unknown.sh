# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_model m.safetensors
# The mean and the biases known: 3.5 for ann, 3.25 for dune, 3 for nothing known.
printf 'ann,stalker,4\nzoe,dune,3\nzoe,stalker,1\n' >test.csv
dpmf evaluate m.safetensors test.csv --json
