# A history of which the model knows no item is a mistake, wherever it is used
# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_model m.safetensors
tiny_history history.csv
sed '1!s/,\([a-z]*\),/,\1.0,/' history.csv >floats.csv
printf 'user,item,rating\nann,solaris,4\nbob,dune,3\n' >test.csv
printf 'user,item,negatives\nann,solaris,dune\n' >rows.csv
for model in m.safetensors "$CLI_TESTS/fixtures/release.safetensors"; do
    cp "$model" model.s
    dpmf recommend model.s --user ann --history floats.csv
    echo "exit $?"
    dpmf recommend model.s --all-users --history floats.csv
    dpmf predict model.s --user ann --item dune --history floats.csv
    dpmf explain model.s --user ann --item dune --history floats.csv
    dpmf evaluate model.s test.csv --history floats.csv
    echo "exit $?"
    dpmf evaluate model.s test.csv --history floats.csv --ranking
    dpmf evaluate model.s --candidates rows.csv --history floats.csv
done
