# A checkpoint has users of its own: for whom it is, must be said.
# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_model m.safetensors
tiny_history train.csv
dpmf recommend m.safetensors --history train.csv
