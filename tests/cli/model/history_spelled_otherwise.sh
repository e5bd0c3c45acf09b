# What of a history the model does not know is counted, and so are users for whom nothing is left
# out, since their lists may hold what they have had.
# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_model m
printf 'user,item,rating\nann,dune,5\nann,0alien,2\nbob,dune,4\nbob,0brazil,1\n' >items.csv
printf 'user,item,rating\n0ann,dune,5\n0bob,alien,3\ncleo,dune,4\n' >users.csv
printf 'user,item,rating\nann,solaris,4\n' >test.csv
try() {
    echo "$*" >&2
    dpmf "$@" >/dev/null
}
try recommend m --user ann --history items.csv -n 2
try recommend m --all-users --history items.csv -n 2
try recommend m --all-users --history users.csv -n 2
try recommend m --all-users --history users.csv -n 2 -q
try recommend m --all-users -n 2
try evaluate m test.csv --history items.csv --ranking
try explain m --user ann --history items.csv --item solaris
