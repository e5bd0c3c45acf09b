# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_model m.safetensors
# zoe is not in the model but in the history: fitted to her ratings, as explain fits them. yan has
# rated nothing that the model knows; ann is in the model, and what the history has of her does not
# count.
printf 'user,item,rating\nzoe,dune,5\nzoe,brazil,1\nyan,stalker,5\nann,dune,1\n' >history.csv
printf 'zoe,solaris\nann,solaris\nyan,solaris\nzoe,stalker\nxia,dune\n' >pairs.csv
dpmf predict m.safetensors pairs.csv --history history.csv
printf 'dune,5\nbrazil,1\n' >mine.csv
dpmf explain m.safetensors --item solaris --ratings mine.csv | head -n 1
