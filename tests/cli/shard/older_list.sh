# A list of the first version pinned its shards, but not itself.
dpmf synth -q --users 300 --items 80 --ratings 6000 -o r.dpr
dpmf shard -q r.dpr --parts 3 -o shards
sed -i -E 's/"dpmf_shards":2,"digest":"[0-9a-f]*",/"dpmf_shards":1,/' shards/shards.json
dpmf describe shards
