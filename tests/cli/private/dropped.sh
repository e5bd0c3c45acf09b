printf "item\na\nb\nc\n" >items
printf "user,item,rating\nu,a,4\nu,b,9\nu,zzz,3\nv,a,nan\nv,c,oops\nw,c,2\n" >r.csv
dpmf train r.csv --epsilon 1 --rating-range 1:5 --catalogue items --ledger l -o x.safetensors --json 2>messages |
    grep -o "\"users\":.*"
grep -v seconds messages | sed "s/, in .*//"
