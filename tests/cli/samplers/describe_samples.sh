# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_model m.safetensors \
    ',\"samples\":2,\"sample_factors\":1,\"noise_precision\":4,\"factor_penalty\":0.25,\"bias_penalty\":0.5'
dpmf describe m.safetensors
dpmf describe m.safetensors --json
