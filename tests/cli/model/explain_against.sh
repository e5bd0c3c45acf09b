# Ratings that speak against an item are named, however popular it is.
# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_model m
dpmf explain m --item dune --ratings brazil:5,solaris:1
