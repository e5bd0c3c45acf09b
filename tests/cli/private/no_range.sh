dpmf synth -q --users 300 --items 40 --ratings 6000 --catalogue-out items.csv -o r.dpr
dpmf train r.dpr --epsilon 1 --catalogue items.csv --ledger l -o x.safetensors; status=$?
ls; exit $status
