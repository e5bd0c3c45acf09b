dpmf ledger init -q l
dpmf synth -q --users 300 --items 40 --ratings 6000 --catalogue-out items.csv -o r.dpr
dpmf train r.dpr --epsilon 2 --mechanism posterior --rating-range 1:5 --catalogue items.csv \
    --ledger l --epochs 40 --max-ratings 10 --json -o x.safetensors
