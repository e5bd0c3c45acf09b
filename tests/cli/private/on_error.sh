printf "item\na\nb\n" >items
printf "user,item,rating\nu,a,4\n" >r.csv
dpmf train r.csv --on-error fail --epsilon 1 --rating-range=1:5 --catalogue items --ledger l \
    -o x.safetensors
