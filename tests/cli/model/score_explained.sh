# A score in its three parts, and reasons for taste alone.
. "$CLI_TESTS/tiny_model.sh"
tiny_model m.safetensors '' counts
dpmf explain m.safetensors --item solaris --ratings dune:5,brazil:1
echo
dpmf explain m.safetensors --item dune --ratings brazil:4,alien:4
echo
dpmf explain m.safetensors --item brazil --ratings dune:5
echo
dpmf explain m.safetensors --item solaris --ratings dune:5,brazil:1 --taste 1 --json
dpmf explain m.safetensors --item solaris --ratings dune:5 --by rating
