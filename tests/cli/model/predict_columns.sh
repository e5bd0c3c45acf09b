# What declares the layout of PAIRS is heeded: items first, other separators, columns to skip.
# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_model m
printf 'dune,ann,5\nalien,bob,3\n' >items_first.csv
dpmf predict m items_first.csv --columns item,user,rating -q
dpmf evaluate m items_first.csv --columns item,user,rating -q --json | grep -o '"n":[0-9]*'
printf 'dune,ann\n' | dpmf predict m - --columns item,user
printf 'x,dune,ann\n' >skip.csv
dpmf predict m skip.csv --columns _,item,user
printf 'dune|ann|3\n' >bar.txt
dpmf predict m bar.txt --separator '|' --columns item,user,rating
dpmf predict m --user ann --item dune
# what is about ratings says nothing of pairs
dpmf predict m items_first.csv --rescale 1:5=0:1
echo $?
dpmf predict m items_first.csv --format movielens
echo $?
