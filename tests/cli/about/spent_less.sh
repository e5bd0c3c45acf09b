# What --about declares as spent before is published as it is; where the ledger of the very run
# knows that it was more, the curator is told before anything is spent.
export XDG_STATE_HOME=$PWD/state
dpmf synth -q --users 60 --items 20 --ratings 600 --catalogue-out items.csv -o r.dpr
dpmf ledger init -q l
try() {
    printf 'spent before: %s\n' "$1" >about.txt
    dpmf train r.dpr --epsilon 1 --rating-range 1:5 --catalogue items.csv --ledger l --replace \
        -o x.safetensors --about about.txt -q 2>&1 | grep declares
}
try 0
try 0
try 0.3
try 0.8042
exit 0
