dpmf ledger init -q l
dpmf synth -q --users 300 --items 40 --ratings 6000 --catalogue-out items.csv -o r.dpr
dpmf train -q r.dpr --mechanism biases --epsilon 1 --rating-range 1:5 --catalogue items.csv \
    --ledger l -o x.safetensors --json |
    grep -o '"mechanism":"[a-z]*"'
dpmf privacy verify -q x.safetensors >/dev/null
