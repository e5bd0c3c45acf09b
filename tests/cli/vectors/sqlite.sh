# As a database: read by Python, and by SQLite's own shell where it is there.
# shellcheck source=/dev/null
. "$CLI_TESTS/exported_vectors.sh"
need_numpy
some_release
dpmf export release.safetensors --sqlite r.sqlite --catalogue items.csv -q
compare sqlite release.safetensors r.sqlite
odd_checkpoint m.safetensors
dpmf export m.safetensors --sqlite m.sqlite --not-private --users -q
compare sqlite m.safetensors m.sqlite users
dpmf export "$CLI_TESTS/fixtures/biases.safetensors" --sqlite none.sqlite -q
compare sqlite "$CLI_TESTS/fixtures/biases.safetensors" none.sqlite
umask 022
stat -c '%a %n' r.sqlite m.sqlite
ls -A
