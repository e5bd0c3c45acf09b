dpmf synth -q --users 300 --items 40 --ratings 6000 --catalogue-out items.csv -o r.dpr
dpmf train r.dpr --patience 2 --epsilon 1 --rating-range 1:5 --catalogue items.csv --ledger l \
    -o x.safetensors
