# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_model m.safetensors
printf '{"user":"ann","item":"dune","rating":4}\n{"user":"bob","item":[],"rating":2}\n' >pairs.jsonl
dpmf predict m.safetensors pairs.jsonl
