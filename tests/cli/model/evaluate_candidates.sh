# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_model m.safetensors
printf '%s\n' user,item,negatives ann,solaris,dune,brazil bob,dune,solaris,solaris \
    nobody,brazil,dune cleo,unheard,dune >rows.csv
dpmf evaluate m.safetensors --candidates rows.csv -n 1
dpmf evaluate m.safetensors --candidates rows.csv -n 2 --json -q
printf 'ann,solaris,4\n' | dpmf evaluate m.safetensors - --candidates rows.csv -q | cut -d ' ' -f 1
