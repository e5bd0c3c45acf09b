# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_model m.safetensors
printf 'zoe,dune,5\nzoe,brazil,1\n' >history.csv
printf 'zoe,alien\nxia,dune\nzoe,stalker\n' |
    dpmf predict -q m.safetensors - --history history.csv --json
