# Beside any delta such an epsilon would be printed as 0.
dpmf ledger init -q l
dpmf synth -q --users 300 --items 40 --ratings 6000 --catalogue-out items.csv -o r.dpr
dpmf train r.dpr --epsilon 1e-300 --rating-range 1:5 --catalogue items.csv --ledger l \
    -o x.safetensors
