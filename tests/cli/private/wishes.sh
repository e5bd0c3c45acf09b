dpmf ledger init -q l
dpmf synth -q --users 300 --items 40 --ratings 6000 --catalogue-out items.csv -o r.dpr
user=$(dpmf export -q r.dpr --csv - | sed -n '2s/,.*//p')
printf 'user,epsilon\n%s,0\nnobody,0.5\n' "$user" >wishes
dpmf train -q r.dpr --user-privacy wishes --epsilon 1 --rating-range 1:5 --catalogue items.csv \
    --ledger l -o x.safetensors --json |
    grep -o '"users":.*wishes_of_nobody":[0-9]*'
dpmf privacy show x.safetensors | grep -A3 'list of'
