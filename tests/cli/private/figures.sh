# What is printed is never less than what is claimed, and a limit that was hardly passed shows by
# how much
dpmf synth -q --users 60 --items 12 --ratings 400 --catalogue-out items.csv -o r.dpr
dpmf ledger init -q l
train=(dpmf train --replace r.dpr --rating-range 1:5 --catalogue items.csv \
    --ledger l -o x.safetensors)
"${train[@]}" --epsilon 1.0000049 2>&1 | grep -o 'epsilon [0-9.]* at delta [0-9.e-]* for every user'
"${train[@]}" --epsilon 1 --delta 0.00010000000001
echo "exit $?"
dpmf privacy account --epsilon 1 --delta 0.00010000000001 2>&1 >/dev/null | head -n 2
"${train[@]}" --epsilon 1 --declared-users 0
echo "exit $?"
