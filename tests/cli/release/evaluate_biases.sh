# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_history train.csv
printf "user,item,rating\nann,solaris,4\nbob,dune,3\ncleo,brazil,2\neve,alien,4\n" >test.csv
cp "$CLI_TESTS/fixtures/biases.safetensors" .
dpmf evaluate biases.safetensors test.csv --history train.csv
