# The largest first on either side; what is not shown is added up.
# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_model m.safetensors
for n in 3 2 1; do
    dpmf explain m.safetensors --item dune --ratings solaris:5,alien:5,brazil:1 -n $n
done
