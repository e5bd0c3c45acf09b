# Events of ratings: the last rating of a pair decides, and a store of them is learnt from as the
# ratings with --like are
printf '%s\n' user,item,rating ann,x,5 ann,y,4 bob,x,4 bob,z,1 cleo,y,5 cleo,z,4 ann,x,2 \
    >ratings.csv
dpmf import -q ratings.csv --like 4 -o likes.dpr
dpmf export -q likes.dpr --csv -
dpmf import -q ratings.csv --like any -o all.dpr
dpmf export -q all.dpr --csv -
dpmf import --json -q ratings.csv --like 4 -o likes.dpr | grep -o '"holds":.*"not_liked":[0-9]*'
dpmf train likes.dpr -k 2 --epochs 1 -o m.safetensors 2>&1 | head -1
dpmf train -q likes.dpr --unobserved 0.5 -k 2 -o m.safetensors
# a private release says it too
dpmf ledger init -q l
printf 'item\nx\ny\nz\nw\n' >items
dpmf train ratings.csv --goal ranking --like 4 --epsilon 1 --catalogue items --ledger l \
    -o r.safetensors --json >json 2>notes
grep 'below --like' notes
grep -o '"not_liked":[0-9]*' json
