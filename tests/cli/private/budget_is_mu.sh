# Epsilon 5 at a delta of 0.4 is 18.2 at 1e-5, and no part of a budget of 5 there; a number alone is
# a mu, and one that would be an epsilon of 33 is asked about.
dpmf synth -q --users 300 --items 40 --ratings 6000 --catalogue-out items.csv -o r.dpr
dpmf ledger init -q l
train() { dpmf train --replace -q r.dpr --rating-range 1:5 --catalogue items.csv --ledger l \
    -o x.safetensors "$@"; echo "exit $?"; }
train --epsilon 5 --delta 0.4 --accept-delta --ledger-budget 5@1e-5
train --epsilon 5 --ledger-budget 5
train --epsilon 5 --ledger-budget 5@1e-5
train --epsilon 0.1
dpmf ledger show --ledger l | head -n 2
