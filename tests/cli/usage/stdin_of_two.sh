# Standard input for two things at once: the second would find it at its end.
# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_model m
tiny_history h.csv
try() {
    dpmf "$@" <h.csv
    echo $?
}
try predict m - --history -
try recommend m --user ann --include - --exclude -
try recommend m --ratings - --include - --exclude -
try explain m --ratings - --item dune --catalogue -
try evaluate m - --history -
try train - --valid - -o out
try train - --epsilon 1 --rating-range 1:5 --catalogue - -o out
ls -A
