# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_model m.safetensors
printf 'dune::Dune (1984)::Sci-Fi\nbrazil::Br\xe9sil::Comedy\nsolaris::Solaris\n' >movies.dat
dpmf recommend m.safetensors --user ann --catalogue movies.dat
dpmf recommend m.safetensors --user ann --catalogue movies.dat --json -n 1
dpmf recommend m.safetensors --all-users -n 1 --catalog movies.dat
dpmf recommend m.safetensors --user bob --catalogue movies.dat | tail -n 1
