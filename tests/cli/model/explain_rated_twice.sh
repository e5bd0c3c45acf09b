# The last rating of an item wins: what is said is what a table without the others would give.
# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_model m.safetensors
printf 'item,rating\ndune,1\nbrazil,1\ndune,2\nalien,2\ndune,5\nstalker,4\nstalker,3\n' >twice.csv
printf 'item,rating\nbrazil,1\nalien,2\ndune,5\nstalker,4\nstalker,3\n' >once.csv
dpmf explain m.safetensors --item solaris --ratings twice.csv
for format in '' --json; do
    # shellcheck disable=SC2086 # an option or none
    dpmf explain -q m.safetensors --item solaris --ratings twice.csv $format >a &&
        dpmf explain -q m.safetensors --item solaris --ratings once.csv $format >b && cmp a b
done
