# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_model m.safetensors
printf 'item,rating\ndune,5\nbrazil,1\nalien,2\nstalker,4\n' >mine.csv
dpmf explain m.safetensors --item solaris --ratings mine.csv -n 2
