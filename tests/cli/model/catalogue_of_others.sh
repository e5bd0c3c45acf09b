# A catalogue without an item of the model, with two titles of one, and one that is no catalogue.
# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_model m
printf 'item,title\ndune.0,Dune\n' >others.csv
printf 'item,title\ndune,Dune\ndune,Dune\nalien,Alien\nalien,Aliens\n' >twice.csv
printf 'user,item,rating\nann,dune,5\n' >ratings.csv
printf 'item,title\ndune,Dune\nnew,New\n' >ordinary.csv
for catalogue in others.csv twice.csv ratings.csv ordinary.csv; do
    dpmf recommend m --ratings dune:5 -n 1 --catalogue $catalogue
    echo $?
done
