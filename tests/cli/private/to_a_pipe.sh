printf "item\na\nb\n" >items
printf "user,item,rating\nu,a,4\n" >r.csv
mkfifo x.safetensors
dpmf train r.csv --epsilon 1 --rating-range 1:5 --catalogue items --ledger l -o x.safetensors
