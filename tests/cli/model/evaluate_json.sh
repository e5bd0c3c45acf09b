# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_model m.safetensors
printf 'ann,solaris,4\nbob,dune,3\nbob,brazil,1\ncleo,solaris,5\n' |
    dpmf evaluate m.safetensors - --json
