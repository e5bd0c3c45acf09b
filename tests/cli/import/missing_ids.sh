# What programs write for a missing value is an id like any other, but not without a word
printf 'user,item,rating\nNULL,1,4\nNone,2,4\nnan,NA,4\n\\N,4,4\nNil,5,3\nann,nana,2\n' >na.csv
dpmf import na.csv --on-error skip -o na.dpr 2>&1 | grep missing
dpmf export -q na.dpr --csv -
printf 'item\n1\n2\n4\n5\n' >items
dpmf ledger init -q l
dpmf train na.csv --epsilon 1 --rating-range 1:5 --catalogue items --ledger l \
    -o r.safetensors 2>&1 | grep missing
