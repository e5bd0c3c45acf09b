dpmf synth -q --users 300 --items 80 --ratings 6000 -o r.dpr
dpmf shard r.dpr --parts 4 -o shards --json -q | sed -E 's/"seconds":[0-9.e-]+/"seconds":S/'
