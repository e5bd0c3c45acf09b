# A delta that is too large for the users there are, and another number of them declared: before
# anything is spent the curator is told; a refusal would show the number.
awk 'BEGIN { print "user,item,rating"
    for (u = 1; u <= 12000; u++) print u "," u % 9 + 1 "," u % 5 + 1 }' >r.csv
dpmf import -q r.csv --on-error skip -o r.dpr
{ echo item; seq 1 10; } >items.csv
train() {
    echo "-- $*"
    dpmf train -q r.dpr --epsilon 1 --rating-range 1:5 --catalogue items.csv --ledger ledger \
        -o x.safetensors "$@" 2>&1 | grep -e delta -e publish
    dpmf privacy show x.safetensors --json 2>/dev/null | grep -o '"kind":"[a-z]*"'
    rm -f x.safetensors
}
dpmf ledger init -q ledger
train --delta 9e-5
train --delta 8e-5
train --delta 9e-5 --declared-users 100
train --delta 8e-5 --declared-users 10000
train --delta 1e-5 --declared-users 30000
train --delta 9e-5 --declared-users 12000
train --delta 9e-5 --accept-delta
train --delta 9e-5 --accept-delta --declared-users 12000
