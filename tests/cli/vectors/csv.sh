# As text, every kind of float and of id reads back as it was.
# shellcheck source=/dev/null
. "$CLI_TESTS/exported_vectors.sh"
need_numpy
odd_checkpoint m.safetensors
dpmf export m.safetensors --csv c --not-private --users -q
compare csv m.safetensors c users
head -n 1 c/items.csv
some_release
dpmf export release.safetensors --csv r --catalogue items.csv -q
compare csv release.safetensors r
dpmf export "$CLI_TESTS/fixtures/release.safetensors" --csv tiny -q
cat tiny/items.csv tiny/model.json
dpmf export "$CLI_TESTS/fixtures/biases.safetensors" --csv none -q
cat none/items.csv
