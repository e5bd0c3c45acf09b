printf "item\na\nb\nc\n" >items
printf "user,item,rating\nu,a,4\nu,b,9\nu,zzz,3\nv,a,nan\nv,c,oops\nw,c,2\n" >r.csv
dpmf ledger init -q l
dpmf train r.csv --epsilon 1 --rating-range 1:5 --catalogue items --ledger l -o x.safetensors \
    --json 2>messages |
    grep -o "\"users\":.*wishes_of_nobody\":[0-9]*"
grep -v seconds messages | sed "s/, in .*//"
