# A list of items has one in each line: of several, none is dropped without a word.
# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_model m
printf 'dune,alien\n' >comma
printf 'dune\talien\n' >tab
printf 'stalker, alien\n' >unknown_first
printf 'dune,Dune\nstalker,Stalker\nalien,brazil\n' >third
for list in comma tab unknown_first third; do
    dpmf recommend m --user bob --exclude $list
    echo "exit status $?"
done
dpmf recommend m --user bob --include comma
echo "exit status $?"
dpmf predict m comma --ratings dune:5
echo "exit status $?"
# What is no item is left out with a word; a header says what is what.
printf 'dune,Dune\nalien,Alien\n' >titled
printf 'alternative,item\ndune,alien\n' >named
: >nothing
tiny_history rated.csv
dpmf import -q rated.csv -o rated.dpr
for list in titled named nothing rated.csv rated.dpr; do
    echo "-- $list" >&2
    dpmf recommend m --user bob --exclude $list
done
