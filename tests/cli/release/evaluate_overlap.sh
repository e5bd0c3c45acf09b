# Everyone is fitted to the history: a test set that is a part of it measures nothing
# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_history train.csv
cp "$CLI_TESTS/fixtures/release.safetensors" .
head -n 5 train.csv >part.csv
dpmf evaluate release.safetensors part.csv --history train.csv
echo "exit $?"
dpmf evaluate release.safetensors train.csv --history train.csv
echo "exit $?"
head -n 2 train.csv >some.csv
printf 'ann,solaris,4\nbob,dune,3\ncleo,brazil,2\neve,alien,4\n' >>some.csv
dpmf evaluate release.safetensors some.csv --history train.csv | grep ratings
echo user,item,others >rows.csv
awk -F, 'NR > 1 && NR < 4 { print $1 "," $2 ",dune,alien,brazil" }' train.csv >>rows.csv
dpmf evaluate release.safetensors --candidates rows.csv --history train.csv
echo "exit $?"
printf 'user,item,rating\nzoe,dune,3\n' >others.csv
dpmf evaluate release.safetensors others.csv --history train.csv | grep ratings
