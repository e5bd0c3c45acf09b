# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_model m.safetensors
tiny_history history.csv
printf 'ann,solaris,4\nbob,dune,3\nbob,brazil,1\ncleo,brazil,5\n' >test.csv
dpmf evaluate m.safetensors test.csv --ranking -n 1 --history history.csv
dpmf evaluate m.safetensors test.csv --ranking -n 2 --history history.csv --json
