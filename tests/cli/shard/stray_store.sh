# A store beside the shards, which their list does not have, would be ignored.
dpmf synth -q --users 300 --items 80 --ratings 3000 -o r.dpr
dpmf shard -q r.dpr --parts 2 -o shards
printf 'user,item\n' >shards/notes.csv
dpmf describe shards --json | grep -o '"users":300'
cp r.dpr shards/more
dpmf describe shards
