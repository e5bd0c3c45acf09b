dpmf synth -q --users 300 --items 80 --ratings 6000 -o r.dpr
dpmf shard -q r.dpr --parts 3 -o shards
rm shards/00002.dpr
dpmf describe shards
