# Events from a store to a list: described, split, cut, learnt from, measured and recommended
printf '%s\n' user,item,plays ann,a,3 ann,b,1 bob,a,2 bob,c,1 cleo,b,9 cleo,c,1 dan,a,1 dan,b,1 \
    >plays.csv
dpmf import -q plays.csv --on-error skip -o e.dpr
dpmf describe e.dpr
dpmf describe --json e.dpr | grep -o '"holds":.*"density"'
dpmf split e.dpr --by user --test-fraction 0.5 --train a.dpr --test b.dpr
dpmf shard e.dpr --parts 2 -o shards
dpmf describe shards | head -1
dpmf train -q e.dpr -k 2 -o m.safetensors
dpmf evaluate m.safetensors b.dpr -n 2 | head -1
dpmf recommend m.safetensors --user ann --history e.dpr -n 5 | tail -1 | grep -o '[a-c]$'
# The items alone are a history, on the command line or in a file
printf 'item\na\nb\n' >mine.csv
dpmf recommend m.safetensors --ratings a,b -n 5 >1
dpmf recommend m.safetensors --ratings mine.csv -n 5 >2
cmp 1 2 && tail -1 1 | grep -o '[a-c]$'
# A model of ratings has no use for events
printf 'user,item,rating\nann,a,5\nann,b,4\nbob,a,2\nbob,c,1\n' >r.csv
dpmf train -q r.csv -k 2 --epochs 1 -o r.safetensors
dpmf evaluate r.safetensors e.dpr
dpmf evaluate r.safetensors e.dpr --ranking -n 2 | head -1
dpmf evaluate r.safetensors r.csv --history e.dpr
dpmf evaluate r.safetensors r.csv --ranking -n 2 --history e.dpr
printf 'user,item,negatives\nann,a,b,c\n' >rows.csv
dpmf evaluate r.safetensors --candidates rows.csv --history e.dpr
dpmf recommend r.safetensors --all-users --history e.dpr
dpmf recommend r.safetensors --user ann --history e.dpr
dpmf predict r.safetensors e.dpr --history e.dpr >/dev/null
# The goal that nobody names is that of the data
dpmf synth -q --users 100 --items 30 --ratings 1500 --events -o s.dpr
dpmf tune s.dpr --trials 1 -k 2 --epochs 1 2>&1 | grep -o 'learning to rank\|--goal ranking -k 2'
# Counts weigh nothing, or as much as one says, also at home
dpmf train -q e.dpr -k 2 --count-weight 0.5 -o w.safetensors
dpmf describe w.safetensors | grep -o 'weight of counts 0.5'
dpmf recommend w.safetensors --ratings a:1,b:1 -n 5 >1
dpmf recommend w.safetensors --ratings a:9,b:1 -n 5 >2
cmp -s 1 2 || echo 'nine plays are more than one'
dpmf train -q e.dpr --continue w.safetensors -o x.safetensors
echo "$?"
