# What the curator would want to have known is told before anything is spent: here the ledger
# refuses, and it was told all the same.
printf 'user,item,rating\n' >r.csv
dpmf ledger init -q l
for u in 1 2 3 4 5; do for i in 1 2 3 4; do printf '%s,%s,%s\n' "$u" "$i" $((1 + (u + i) % 5))
done; done >>r.csv
printf 'item\n0001\n0002\n0003\n0004\n' >wrong
printf 'item\n1\n2\n3\n4\n' >rated
printf 'item\n1\n2\n3\n5\n' >other
printf 'user,epsilon\nu1,0\nu2,0\nu2,0.1\nu3,7\n5,0\n' >wishes
refused() {
    dpmf train "$@" r.csv --epsilon 1 --ledger l --ledger-budget 0.02 -o x.safetensors 2>&1 |
        sed '/error:/,$d'
    echo "${PIPESTATUS[0]}"
}
refused --rating-range 1:5 --catalogue wrong --user-privacy wishes
refused --rating-range 1:5 --catalogue wrong --user-privacy wishes -q
refused --rating-range 1:5 --catalogue rated
refused --rating-range 1:4 --catalogue other
refused --rating-range 1:4 --catalogue other -q
ls
