# PAIRS whose header is half known, stands again in the middle or contradicts --columns: users and
# items would be swapped, and nobody would see it.
# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_model m
try() {
    printf '%b' "$1" >pairs.csv
    dpmf predict m pairs.csv -q "${@:2}"
    echo "exit $?"
}
try 'thing,user\nann,dune\n'
try 'item,who\ndune,ann\n'
try 'user,item\nann,dune\nitem,user\ndune,ann\n'
try 'user,item\nann,dune\nuser,item\nbob,dune\n'
try 'ann,dune\nuser,item\ndune,ann\n'
try 'thing,rater\n1,5\n'
try 'ann,dune\nbob,1984\n'
try 'item,user\ndune,ann\n'
dpmf predict m pairs.csv --columns user,item
