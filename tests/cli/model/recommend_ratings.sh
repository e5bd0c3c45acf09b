# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_model m.safetensors
# What was rated is left out; the rest is as predict has it for the same ratings.
printf 'item,rating\ndune,5\nstalker,3\n' >mine.csv
dpmf recommend m.safetensors --ratings mine.csv
dpmf recommend -q m.safetensors --ratings mine.csv -n 1 --json
printf 'zoe,dune,5\n' >history.csv
printf 'zoe,solaris\nzoe,alien\nzoe,brazil\n' |
    dpmf predict -q m.safetensors - --history history.csv
