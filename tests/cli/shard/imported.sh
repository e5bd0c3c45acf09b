# Shards are taken wherever ratings are: as the store they were cut from, alone or among other
# inputs.
dpmf synth -q --users 300 --items 80 --ratings 6000 --timestamps -o r.dpr
dpmf shard -q r.dpr --parts 3 -o shards
printf 'user,item,rating,timestamp\nann,dune,4.5,1000000000\n' >more.csv
same() { cmp <(dpmf export -q "$1" --csv -) <(dpmf export -q "$2" --csv -) && echo the same; }
dpmf import -q r.dpr -o a.dpr
dpmf import -q shards -o b.dpr
dpmf import -q shards --format dpr -o c.dpr
cmp a.dpr b.dpr && cmp a.dpr c.dpr && echo imported: the same
for whole in r.dpr shards; do
    dpmf import -q more.csv $whole --rescale 1:5=0:1 --memory 64MiB -o $whole.mixed
    dpmf split -q $whole --train $whole.train --test $whole.test
    dpmf shard -q $whole --parts 2 -o $whole.again
    dpmf shard -q $whole.train --parts 2 -o $whole.half
    dpmf train -q $whole.half -k 4 --epochs 2 --deterministic --valid $whole.test -o $whole.model
    dpmf evaluate r.dpr.model $whole.test --history $whole.half >$whole.evaluation
    dpmf recommend r.dpr.model --user 7 --history $whole --json -q >$whole.list
    dpmf predict r.dpr.model $whole -q >$whole.predictions
    dpmf describe $whole --json | grep -o '"users.*"density":[^,]*' >$whole.description
done
factors() { tail -c +$(($(od -An -tu8 -N8 "$1") + 9)) "$1"; } # the header has the input's name
cmp <(factors r.dpr.model) <(factors shards.model) && echo model: the same
for way in mixed train test evaluation list predictions description
do cmp r.dpr.$way shards.$way && test -s shards.$way && echo "$way: the same"; done
same r.dpr.again shards.again
mkdir empty
dpmf import empty -o d.dpr
