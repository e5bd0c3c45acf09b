dpmf ledger init -q l
dpmf synth -q --users 300 --items 40 --ratings 6000 --catalogue-out items.csv -o r.dpr
dpmf train r.dpr --epsilon 1 --rating-range 1:5 --catalogue-from-ratings --ledger l \
    -o x.safetensors 2>&1 | grep warning
dpmf privacy show x.safetensors | grep 'NOT COVERED'
