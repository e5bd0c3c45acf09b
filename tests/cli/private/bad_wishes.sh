dpmf ledger init -q l
dpmf synth -q --users 300 --items 40 --ratings 6000 --catalogue-out items.csv -o r.dpr
printf 'user,epsilon\nx,-1\n' >wishes
dpmf train -q r.dpr --user-privacy wishes --epsilon 1 --rating-range 1:5 --catalogue items.csv \
    --ledger l -o x.safetensors
