printf "item\na\nb\n" >items
printf "u::a::4\nv::b::3\n" >r.dat
dpmf ledger init -q l
dpmf train -q r.dat --format movielens --epsilon 1 --rating-range 1:5 --catalogue items \
    --ledger l -o x.safetensors
ls
