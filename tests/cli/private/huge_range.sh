printf "item\na\nb\n" >items
printf "user,item,rating\nu,a,4\n" >r.csv
dpmf train r.csv --epsilon 1 --rating-range=0:1e300 --catalogue items --ledger l -o x.safetensors
