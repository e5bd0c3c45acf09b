# Dials and orders that there are not.
. "$CLI_TESTS/tiny_model.sh"
tiny_model old.safetensors
tiny_model m.safetensors '' counts
tiny_history history.csv
dpmf recommend m.safetensors --user ann --taste 1.5
echo $?
dpmf recommend m.safetensors --user ann --taste nan
echo $?
dpmf recommend m.safetensors --user ann --taste 0.3 --by rating
echo $?
dpmf recommend old.safetensors --user ann --taste 0.3
echo $?
dpmf recommend old.safetensors --user ann --by score
echo $?
dpmf explain old.safetensors --item dune --ratings alien:4 --taste 0
echo $?
dpmf evaluate m.safetensors history.csv --taste 0.3
echo $?
dpmf evaluate old.safetensors history.csv --ranking --taste 0.3
echo $?
dpmf recommend m.safetensors --user ann --by stars
echo $?
