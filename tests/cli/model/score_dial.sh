# Lists by score: the dial, the predicted rating beside it, and the old order.
. "$CLI_TESTS/tiny_model.sh"
tiny_model m.safetensors '' counts
tiny_history history.csv
for taste in 0 0.5 1; do
    echo "taste $taste"
    dpmf recommend m.safetensors --ratings solaris:5 --taste "$taste"
done
dpmf recommend m.safetensors --ratings solaris:5 --by rating
dpmf recommend m.safetensors --user ann --history history.csv --json
dpmf recommend m.safetensors --user ann -n 1
dpmf recommend m.safetensors --all-users --history history.csv -n 2
dpmf recommend m.safetensors --user nobody -n 1
dpmf similar m.safetensors --item dune --ratings solaris:5 -n 1
