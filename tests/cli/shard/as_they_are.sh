dpmf synth -q --users 300 --items 80 --ratings 6000 -o r.dpr
dpmf shard -q r.dpr --parts 3 -o shards
dpmf describe shards --rescale 1:5=0:1
