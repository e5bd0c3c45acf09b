# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_model m.safetensors
dpmf synth -q --users 20 --items 10 --ratings 50 --truth t.safetensors -o r.dpr
dpmf evaluate t.safetensors r.dpr
