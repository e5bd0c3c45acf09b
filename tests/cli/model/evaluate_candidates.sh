# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_model m.safetensors
printf 'user,item,negatives\nann,solaris,dune,brazil\nbob,dune,solaris,solaris\nnobody,brazil,dune\ncleo,unheard,dune\n' >rows.csv
dpmf evaluate m.safetensors --candidates rows.csv -n 1
dpmf evaluate m.safetensors --candidates rows.csv -n 2 --json -q
printf 'ann,solaris,4\n' | dpmf evaluate m.safetensors - --candidates rows.csv -q | cut -d ' ' -f 1
