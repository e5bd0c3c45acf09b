# -q silences no line that says that a release is less than proven.
XDG_STATE_HOME=$PWD/state
export XDG_STATE_HOME
printf 'user,item,rating\n1,a,3\n4,b,2\n7,a,1\n' >ratings.csv
printf 'item\na\nb\nc\n' >items.csv
dpmf ledger init -q
for switches in "--catalogue-from-ratings" "--catalogue items.csv --delta 1e-3 --accept-delta" \
    "--catalogue items.csv --research" "--catalogue items.csv --insecure-noise-seed 1" \
    "--catalogue items.csv"; do
    echo "$switches" >&2
    # shellcheck disable=SC2086 # several words
    dpmf train -q ratings.csv --epsilon 1 --rating-range 1:5 $switches -o "m$((++i)).safetensors"
done
