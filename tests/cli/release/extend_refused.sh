# Nothing new, an item twice, an extended release again, no parent, a table that names people.
cp "$CLI_TESTS/fixtures/release.safetensors" .
printf 'item,kind\ndune,a\nsolaris,a\nalien,a\nbrazil,b\ngattaca,a\n' >features.csv
extend() { dpmf release extend "$1" --catalogue "$2" --item-features features.csv -o "$3"
echo "status $?"; }
printf 'item\ndune\n' >old.csv
extend release.safetensors old.csv x.safetensors
printf 'item\ngattaca\ngattaca\n' >twice.csv
extend release.safetensors twice.csv x.safetensors
printf 'user\ngattaca\n' >people.csv
extend release.safetensors people.csv x.safetensors
printf 'item\ngattaca\n' >new.csv
extend release.safetensors new.csv extended.safetensors 2>/dev/null
extend extended.safetensors new.csv x.safetensors
dpmf release parent release.safetensors -o x.safetensors
echo "status $?"
ls
