# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_model plain.safetensors
tiny_model one.safetensors \
    ',\"samples\":1,\"sample_factors\":2,\"noise_precision\":4,\"factor_penalty\":0.25,\"bias_penalty\":0.5'
tiny_model m.safetensors \
    ',\"samples\":2,\"sample_factors\":1,\"noise_precision\":4,\"factor_penalty\":0.25,\"bias_penalty\":0.5'
printf 'ann,dune\n' >pairs.csv
dpmf predict plain.safetensors pairs.csv --intervals
echo "$?"
dpmf predict one.safetensors pairs.csv --intervals
echo "$?"
dpmf predict m.safetensors pairs.csv --intervals --level 1.5
echo "$?"
dpmf predict m.safetensors pairs.csv --level 0.5
echo "$?"
dpmf predict m.safetensors --ratings dune:5 --intervals
echo "$?"
