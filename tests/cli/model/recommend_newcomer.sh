# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_model m.safetensors
# The model does not know zoe, but the history does.
printf 'zoe,dune,5\nzoe,brazil,1\n' >history.csv
dpmf recommend m.safetensors --user zoe --history history.csv
dpmf recommend -q m.safetensors --user zoe --history history.csv -n 1 --json
# Nor does the model know what yan rated.
printf 'yan,stalker,5\n' >history.csv
dpmf recommend m.safetensors --user yan --history history.csv -n 1
