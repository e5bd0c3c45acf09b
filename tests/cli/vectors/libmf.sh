# LIBMF's text, of a release and of a checkpoint whose numbers are exact.
# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_model m.safetensors
dpmf export m.safetensors --libmf m.txt --not-private --users -q
tail -n +1 m.txt m.txt.*
dpmf export "$CLI_TESTS/fixtures/release.safetensors" --libmf r.txt -q
tail -n +1 r.txt r.txt.*
stat -c '%a %n' m.txt*
