# Nothing to predict: a table of predictions without a row would look like an answer.
# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_model m
: >empty.csv
printf 'user,item\n' >head.csv
printf 'item\n' >items.csv
try() {
    dpmf predict m "$@"
    echo $?
}
false | try -
try empty.csv
try head.csv
try head.csv --json
try head.csv --columns user,item
try items.csv --ratings dune:5
: | try - -q --ratings dune:5
