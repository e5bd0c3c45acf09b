# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_model m.safetensors
printf 'user,item,rating\nann,dune,4\n' >ratings.csv
dpmf recommend ratings.csv --user ann
