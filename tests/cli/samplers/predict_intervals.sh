# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
# Two samples of one column each, that predict 3.75 + 2 and 3.75 + 0 for ann and dune.
tiny_model m.safetensors \
    ',\"samples\":2,\"sample_factors\":1,\"noise_precision\":4,\"factor_penalty\":0.25,\"bias_penalty\":0.5'
printf 'user,item\nann,dune\nbob,brazil\nzoe,alien\ncleo,nothing\n' >pairs.csv
dpmf predict m.safetensors pairs.csv --intervals
dpmf predict m.safetensors pairs.csv --intervals --level 0.5 --json |
    sed -E 's,(\.[0-9]{4})[0-9]+,\1,g'
