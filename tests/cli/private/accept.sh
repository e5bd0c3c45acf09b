# A delta or an epsilon beyond what is usual is refused, and partial when it is accepted.
dpmf ledger init -q l
dpmf synth -q --users 300 --items 40 --ratings 6000 --catalogue-out items.csv -o r.dpr
mechanism=biases
try() {
    echo "$*"
    dpmf train --replace -q r.dpr --mechanism $mechanism --rating-range 1:5 --catalogue items.csv \
        --ledger l --json -o x.safetensors "$@" 2>errors |
        grep -o '"kind":"[a-z]*","assumptions":[^]]*]'
    echo "status ${PIPESTATUS[0]}"
    cat errors
}
try --epsilon 1 --delta 1e-4
try --epsilon 1 --delta 1.01e-4
try --epsilon 1 --delta 1e-3 --accept-epsilon
try --epsilon 1 --delta 1e-3 --accept-delta
try --epsilon 1 --declared-users 100000
try --epsilon 1 --declared-users 100000 --accept-delta
try --epsilon 20
try --epsilon 21
try --epsilon 21 --accept-delta
try --epsilon 21 --accept-epsilon
try --epsilon 5 --delta 0.4 --accept-delta
try --epsilon 1e9 --delta 0.9 --accept-delta --accept-epsilon
# a budget for such releases is accepted in the same way
try --population big --epsilon 21 --accept-epsilon --ledger-budget 3.7
try --population big --epsilon 21 --accept-epsilon --ledger-budget 3.7
dpmf ledger budget big 5.5 --ledger l
dpmf ledger budget big 5.5 --ledger l --accept-epsilon
try --population big --epsilon 21 --accept-epsilon
try --population big --epsilon 21 --accept-epsilon
mechanism=posterior
try --epochs 3 --epsilon 20.5
try --epochs 3 --epsilon 20.5 --accept-epsilon
dpmf train --replace r.dpr --accept-delta -o y
