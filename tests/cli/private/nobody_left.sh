printf "item\na\nb\nc\n" >items
printf "user,item,rating\nu,x,4\n" >r.csv
dpmf ledger init -q l
dpmf train -q r.csv --epsilon 1 --rating-range 1:5 --catalogue items --ledger l \
    -o x.safetensors && dpmf privacy verify -q x.safetensors >/dev/null && ls
