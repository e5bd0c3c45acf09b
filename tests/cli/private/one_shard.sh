# Who is in a shard follows from everyone before: one alone, a copy of it and what is made of it are
# refused; all of them together are the store.
dpmf ledger init -q l
dpmf synth -q --users 60 --items 20 --ratings 600 --catalogue-out items.csv -o r.dpr
echo another,x >>items.csv
dpmf shard -q r.dpr --parts 3 -o shards
dpmf shard -q r.dpr --parts 1 -o whole
try() {
    dpmf train --replace \
        -q "$1" --epsilon 1 --rating-range 1:5 --catalogue items.csv --ledger l --json \
        -o x.safetensors 2>&1 |
        sed -n 's/.*\("kind":"[a-z ]*"\).*/\1/p; /^dpmf: error/p; /^  /p'
}
cp shards/00001.dpr one.dpr
try one.dpr
try shards/00000.dpr
dpmf import -q one.dpr --on-error skip -o again.dpr
try again.dpr
dpmf import -q shards/00000.dpr shards/00001.dpr shards/00002.dpr --on-error skip -o again.dpr
try again.dpr
dpmf shard -q one.dpr --parts 2 -o parts_of_one
try parts_of_one
dpmf split -q one.dpr --train a.dpr --test b.dpr
try a.dpr
try shards
dpmf import -q shards --on-error skip -o again.dpr
try again.dpr
try whole/00000.dpr
dpmf describe -q one.dpr --json | grep -o '"by_record":[a-z]*,"shard":[a-z]*'
