# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_history train.csv
printf "ann,solaris\neve,alien\n" >pairs.csv
cp "$CLI_TESTS/fixtures/release.safetensors" .
dpmf predict release.safetensors pairs.csv --history train.csv
