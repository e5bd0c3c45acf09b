# Ratings of a history that are not on the model's scale are used, and said to be
# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_model m.safetensors '' counts
printf '%s\n' user,item,rating ann,dune,9 eve,alien,5 >off.csv
printf '%s\n' user,item,rating ann,alien,4 >test.csv
dpmf recommend m.safetensors --user ann --history off.csv -n 1
dpmf explain m.safetensors --user ann --history off.csv --item alien | head -1
dpmf predict m.safetensors --user eve --item dune --history off.csv
dpmf evaluate m.safetensors test.csv --history off.csv | head -1
tiny_history on.csv
dpmf recommend m.safetensors --user ann --history on.csv -n 1
