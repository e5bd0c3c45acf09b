# What the history takes out of the ranking is counted: test ratings that are in it too, and users
# whom it does not have.
# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_model m
tiny_history rated.csv
printf '%s\n' user,item,rating ann,solaris,4 ann,dune,5 bob,solaris,3 cleo,solaris,1 >test.csv
printf '%s\n' user,item,rating bob,dune,4 >few.csv
printf '%s\n' user,item,rating bob,alien,4 zoe,alien,2 >newcomer.csv
printf '%s\n' user,item,rating zoe,alien,2 zoe,dune,4 >nobody.csv
try() {
    echo "-- $*" >&2
    dpmf evaluate m "$@" | grep users.ranked
}
try test.csv --ranking --history rated.csv
try test.csv --ranking --history rated.csv --like 5
try test.csv --ranking --history few.csv
try test.csv --ranking --history newcomer.csv
try test.csv --ranking --history nobody.csv
try test.csv --history few.csv
for file in test rated; do
    awk -F, '{ print $1 "," $2 }' $file.csv >$file.events
done
try test.events --ranking --history rated.csv
printf '%s\n' user,item,negatives ann,solaris,alien bob,solaris,brazil zoe,brazil,dune >rows.csv
for history in rated few newcomer; do
    echo "-- candidates $history" >&2
    dpmf evaluate m --candidates rows.csv --history $history.csv | grep rows
done
