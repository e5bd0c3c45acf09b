# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_model m.safetensors
# Pairs stand as often as they were given, in their order, users mixed.
printf 'zoe,dune,5\nyan,alien,1\n' >history.csv
printf 'zoe,dune\nyan,dune\nzoe,dune\nbob,dune\nyan,alien\n' |
    dpmf predict -q m.safetensors - --history history.csv
