# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_model m.safetensors
tiny_history history.csv
dpmf explain m.safetensors --item solaris --user zoe --history history.csv
