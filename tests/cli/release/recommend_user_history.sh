# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_history train.csv
cp "$CLI_TESTS/fixtures/release.safetensors" .
dpmf recommend release.safetensors --user ann --history train.csv
