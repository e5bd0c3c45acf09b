# Someone who is in two shards would count twice: a set that is not the one that was cut is refused.
dpmf synth -q --users 300 --items 80 --ratings 6000 --catalogue-out items.csv -o r.dpr
dpmf shard -q r.dpr --parts 3 -o shards
cp shards/00000.dpr shards/00001.dpr
dpmf train shards --epsilon 1 --rating-range 1:5 --catalogue items.csv --ledger ledger \
    -o out.safetensors
status=$?
ls
exit $status
