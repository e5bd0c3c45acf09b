# A wish that matches nobody decides nothing: a refusal would show who is in the ratings.
dpmf ledger init -q l
dpmf synth -q --users 300 --items 40 --ratings 6000 --catalogue-out items.csv -o r.dpr
try() {
    printf '%b' "$1" >wishes
    dpmf train --replace -q r.dpr --epsilon 2 --epochs 10 --mechanism posterior --rating-range 1:5 \
        --catalogue items.csv --ledger l --user-privacy wishes -o x.safetensors
    echo "$?"
}
user=$(dpmf export -q r.dpr --csv - | sed -n '2s/,.*//p')
try "user,epsilon\n$user,nan\n"
try ""
ls
try "user,epsilon\n$user,2.5\n"
try "user,epsilon\n$user,1\nnobody,1\n"
try "user,epsilon\nsomebody,1\nnobody,0\n"
dpmf privacy show x.safetensors | grep -A1 'list of'
