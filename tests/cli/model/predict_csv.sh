# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_model m.safetensors
# Ids with commas and quotes stay what they are; predictions stay on the scale.
printf 'user,item\nann,dune\nbob,brazil\nzoe,alien\n"a,b","say ""x"""\n' >pairs.csv
dpmf predict m.safetensors pairs.csv
