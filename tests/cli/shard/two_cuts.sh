# Parts of two cuts of one store, each of them whole: some users would be there twice. Who edits the
# list by hand is told.
dpmf synth -q --users 300 --items 80 --ratings 6000 --catalogue-out items.csv -o r.dpr
dpmf shard -q r.dpr --parts 3 -o shards
dpmf shard -q r.dpr --parts 2 -o halves
cp halves/00001.dpr shards/half.dpr
half=$(grep -o '{"file":"00001.dpr"[^}]*}' halves/shards.json | sed 's/00001/half/')
sed -i "s/{\"file\":\"00002.dpr\"[^}]*}/$half/" shards/shards.json
grep -o '"file":"[^"]*"' shards/shards.json
dpmf train shards --epsilon 1 --rating-range 1:5 --catalogue items.csv --ledger ledger \
    -o out.safetensors
status=$?
ls
exit $status
