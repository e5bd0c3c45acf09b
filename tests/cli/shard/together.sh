# All shards together are the store they were cut from, in the same order, whatever is asked of
# them.
dpmf synth -q --users 300 --items 80 --ratings 6000 --timestamps -o r.dpr
dpmf shard -q r.dpr --parts 7 -o shards
ls shards
cmp <(dpmf export -q r.dpr --csv -) <(dpmf export -q shards --csv -) && echo the same
cmp <(dpmf describe r.dpr --json | grep -o '"users.*"density":[^,]*') \
    <(dpmf describe shards --json | grep -o '"users.*"density":[^,]*') && echo the same
stat -c '%a' shards shards/00000.dpr shards/shards.json
