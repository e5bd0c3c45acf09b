# A model learns from new ratings alone: new users and items are there, others stay as they were.
dpmf synth --users 300 --items 80 --ratings 9000 --seed 3 -o all.dpr -q
dpmf split all.dpr --train old.dpr --test new.dpr --seed 1 -q
dpmf train old.dpr -k 8 -o old.safetensors -q
printf 'user,item,rating\nann,1,5\nann,2,1\nann,never,4\nbob,never,2\n' >new.csv
dpmf train new.csv --continue old.safetensors -o a.safetensors -q -j 1 --deterministic
dpmf train new.csv --continue old.safetensors -o b.safetensors -q -j 3 --deterministic
cmp a.safetensors b.safetensors && echo "threads do not matter"
echo "people of before and after:"
dpmf describe old.safetensors --json | grep -o '"users":[0-9]*,"items":[0-9]*'
dpmf describe a.safetensors --json | grep -o '"users":[0-9]*,"items":[0-9]*'
dpmf describe a.safetensors --json | grep -o 'continued[^,]*:1\b'
echo "someone without new ratings:"
dpmf predict old.safetensors --user 12 --item 5 --json -q >old.json
dpmf predict a.safetensors --user 12 --item 5 --json -q >a.json
test -s old.json && cmp old.json a.json && echo "is as before"
dpmf predict a.safetensors --user ann --item never -q >/dev/null && echo "ann and never are known"
echo "interrupted and continued:"
dpmf train new.dpr --continue old.safetensors -o whole.safetensors --epochs 3 \
    --deterministic -q
dpmf train new.dpr --continue old.safetensors -o half.safetensors --epochs 2 \
    --snapshot s.safetensors -q
dpmf train new.dpr --continue old.safetensors -o rest.safetensors --epochs 3 \
    --resume s.safetensors \
    --deterministic -q && cmp whole.safetensors rest.safetensors && echo "same"
echo "a snapshot of other ratings:"
dpmf train new.csv --continue old.safetensors -o x.safetensors --resume s.safetensors -q
echo "status $?"
echo "in its place, twice:"
dpmf train new.csv --continue a.safetensors -o a.safetensors -q
dpmf describe a.safetensors --json | grep -o 'continued[^,]*:2\b'
echo "a validation set:"
dpmf train new.dpr --continue old.safetensors --valid old.dpr --patience 1 -o v.safetensors \
    --json -q | grep -c valid_rmse
echo "one that ranks:"
dpmf train old.dpr --goal ranking -k 8 -o rank.safetensors -q
dpmf train new.csv --continue rank.safetensors -o ranked.safetensors -q
dpmf recommend ranked.safetensors --user ann -n 3 -q | wc -l
echo "what is new is said:"
dpmf train new.csv --continue old.safetensors -o n.safetensors 2>&1 | grep -E 'new to|warning'
dpmf train new.csv --continue old.safetensors -o n.safetensors --json -q |
    grep -o '"new_users.*items":[0-9]*'
printf 'user,item,rating\ni1,u1,5\ni2,u1,1\n' >swapped.csv
dpmf train swapped.csv --continue old.safetensors -o n.safetensors 2>&1 | grep -E 'new to|warning'
printf 'user,item,rating\n1,u1,5\n' >items.csv
dpmf train items.csv --continue old.safetensors -o n.safetensors 2>&1 | grep -E 'new to|warning'
dpmf train new.dpr --continue old.safetensors -o n.safetensors 2>&1 | grep -E 'new to|warning'
