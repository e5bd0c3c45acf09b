# Rows longer than the first and headers that name a column twice: nothing is cut off or chosen.
# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_model m
printf 'item,rating\ndune,3,5\n' >comma.csv
printf 'item,rating,stars\ndune,5,3\n' >twice.csv
printf 'user,item,user\nann,dune,bob\n' >pairs.csv
printf 'item,title\ndune,Dune\nalien,Alien, the first\n' >titles.csv
printf 'shelf\ndune,alien\n' >shelf.csv
for ratings in comma.csv twice.csv; do
    dpmf recommend m --ratings $ratings
    echo $?
done
dpmf predict m pairs.csv
echo $?
dpmf recommend m --ratings dune:5 --catalogue titles.csv
echo $?
dpmf recommend m --ratings dune:5 --include shelf.csv
echo $?
