# What the model does not know is left out of the candidates, and reported: first among nothing is
# no success
# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_model m.safetensors
try() {
    printf '%s\n' "$@" >rows.csv
    dpmf evaluate m.safetensors --candidates rows.csv -n 1
    echo "exit $?"
}
try user,item,negatives ann,solaris,dun,alienn bob,dune,0alien
try user,item,negatives 'ann,solaris,dune alien brazil'
try user,item,negatives ann,solaris,dun,alienn bob,dune,solaris,alien,nothing
try user,item,rating ann,solaris,2 bob,dune,3
dpmf evaluate -q m.safetensors --candidates rows.csv -n 1
printf '%s\n' user,item,negatives ann,solaris,dun,alienn bob,dune,solaris,alien,nothing >rows.csv
dpmf evaluate -q m.safetensors --candidates rows.csv -n 1 --json | grep -o '"unknown_users.*"hr'
