# The build that doctor names is the one that the statement of a release names.
dpmf synth -q --users 50 --items 10 --ratings 300 --catalogue-out items.csv -o r.dpr
dpmf ledger init -q ledger
dpmf train -q r.dpr --mechanism biases --epsilon 1 --rating-range 1:5 --catalogue items.csv \
    --ledger ledger -o r.safetensors
build() { grep -o '"build":{[^}]*}'; }
dpmf doctor --json | build >here
dpmf privacy show r.safetensors --json | build >stated
cmp here stated && sed -E 's/":"[^"]+"/":"*"/g' here
dpmf doctor | grep -c "$(sed -E 's/.*"sources":"([0-9a-f]*)".*/\1/' here)"
