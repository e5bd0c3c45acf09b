# Options on how ratings are read, where none are read.
# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_model m
dpmf recommend m --user ann --rescale 1:5=0:1
echo $?
dpmf recommend m --user ann --columns user,item
echo $?
dpmf predict m --user ann --item dune --rating-range 1:2
echo $?
dpmf similar m --item dune --columns user,item
echo $?
dpmf describe m --rescale 1:5=0:1
echo $?
dpmf recommend m --ratings dune:5 --columns user,item,rating
echo $?
printf 'item\ndune\n' >items.csv
dpmf predict m items.csv --ratings dune:5 --separator ';'
echo $?
printf 'user,item,negatives\nann,dune,alien\n' >candidates.csv
dpmf evaluate m --candidates candidates.csv --on-error skip
echo $?
# and where they are
printf '5;dune\n4;alien\n' >mine.csv
printf 'ann;5;dune\n' >history.csv
dpmf similar m --item dune --ratings dune:50 --rescale 0:100=1:5 -q | wc -l
dpmf recommend m --user ann --history history.csv --separator ';' --columns user,rating,item -q |
    wc -l
