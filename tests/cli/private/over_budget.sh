dpmf ledger init -q l
dpmf synth -q --users 300 --items 40 --ratings 6000 --catalogue-out items.csv -o r.dpr
dpmf train -q r.dpr --epsilon 1 --rating-range 1:5 --catalogue items.csv --ledger l \
    --ledger-budget 1.4@1e-5 -o x.safetensors &&
    dpmf train -q r.dpr --epsilon 1 --rating-range 1:5 --catalogue items.csv --ledger l \
    -o y.safetensors; status=$?
ls; exit $status
