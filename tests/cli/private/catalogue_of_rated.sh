dpmf ledger init -q l
dpmf synth -q --users 300 --items 40 --ratings 6000 --catalogue-out items.csv -o r.dpr
dpmf export -q r.dpr --csv - | awk -F, 'NR > 1 && !seen[$2]++ { print $2 }' >rated
dpmf train --replace r.dpr --epsilon 1 --rating-range 1:5 --catalogue rated --ledger l \
    -o x.safetensors 2>&1 | grep warning
dpmf train --replace \
    -q r.dpr --epsilon 1 --rating-range 1:5 --catalogue rated --ledger l -o x.safetensors \
    --json | grep -o '"catalogue_is_rated_set":[a-z]*'
echo another >>rated
dpmf train --replace \
    -q r.dpr --epsilon 1 --rating-range 1:5 --catalogue rated --ledger l -o x.safetensors \
    --json | grep -o '"catalogue_is_rated_set":[a-z]*'
