# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_model m.safetensors
printf 'dune,Dune\nalien,"Alien, the first"\n' >items.csv
printf 'ann,dune\nbob,alien\nbob,brazil\n' | dpmf predict m.safetensors - --catalogue items.csv
printf 'ann,dune\nbob,brazil\n' | dpmf predict m.safetensors - --catalogue items.csv --json
