# A model that ranks learns new events with its old ones at hand: --history.
dpmf synth --users 300 --items 80 --ratings 9000 --seed 3 -o ratings.dpr -q
dpmf split ratings.dpr --train some.dpr --test few.dpr --seed 1 -q
for name in ratings some few; do
    dpmf export "$name.dpr" --csv "$name.csv" -q
    dpmf import "$name.csv" --like any -o "$name-events.dpr" -q
done
old=some-events.dpr
new=few-events.dpr
dpmf train "$old" -k 8 -o old.safetensors -q -j 2
run() { dpmf train "$@" -q --replace; }
run "$new" --continue old.safetensors --history "$old" -o a.safetensors -j 1 --deterministic
run "$new" --continue old.safetensors --history "$old" -o b.safetensors -j 3 --deterministic
cmp a.safetensors b.safetensors && echo "threads do not matter"
{ head -n 1 some.csv && tail -n +2 some.csv | tac; } >turned.csv
dpmf import turned.csv --like any -o turned.dpr -q
run "$new" --continue old.safetensors --history turned.dpr -o t.safetensors --deterministic
for model in a t; do
    dpmf export "$model.safetensors" --npy "vectors-$model" --users --not-private -q
done
cmp vectors-a/item_vectors.npy vectors-t/item_vectors.npy &&
    cmp vectors-a/user_vectors.npy vectors-t/user_vectors.npy &&
    echo "the order of the history does not matter"
echo "the weight of other pairs is that of all events:"
dpmf train ratings-events.dpr -k 8 -o anew.safetensors -q
for model in old a anew; do
    dpmf describe "$model.safetensors" --json | grep -o '"unobserved":[0-9.]*'
done
dpmf train "$old" -k 8 --unobserved 0.3 -o asked.safetensors -q
run "$new" --continue asked.safetensors --history "$old" -o asked.safetensors
dpmf describe asked.safetensors --json | grep -o '"unobserved":[0-9.]*'
echo "at rest, and told nothing new, it stays where it is:"
dpmf train "$old" -k 4 --epochs 400 -o rest.safetensors -q
head -n 200 some.csv >known.csv
dpmf import known.csv --like any -o known.dpr -q
run known.dpr --continue rest.safetensors --history "$old" -o still.safetensors
run known.dpr --continue rest.safetensors -o moved.safetensors
ranked() { dpmf recommend "$1" --user "$(sed -n 2p known.csv | cut -d, -f1)" -n 5 --json -q; }
ranked rest.safetensors | grep -o '"item":[^,]*\|"score":[0-9]*.[0-9][0-9]' >rest.csv
ranked still.safetensors | grep -o '"item":[^,]*\|"score":[0-9]*.[0-9][0-9]' >still.csv
ranked moved.safetensors | grep -o '"item":[^,]*\|"score":[0-9]*.[0-9][0-9]' >moved.csv
cmp rest.csv still.csv && echo "it does"
cmp -s rest.csv moved.csv || echo "without the history it does not"
echo "what was used is said:"
printf 'user,item,count\nann,1,5\nann,never,1\n1,2,1\n' >three.csv
dpmf train three.csv --continue old.safetensors --history "$old" -o n.safetensors 2>&1 |
    grep -E 'new to|again|warning'
dpmf train three.csv --continue old.safetensors --history "$old" -o n.safetensors --json -q |
    grep -o '"new_users.*events":[0-9]*'
dpmf recommend n.safetensors --user ann -n 3 -q | wc -l
echo "interrupted and continued:"
run "$new" --continue old.safetensors --history "$old" -o half.safetensors --epochs 1 \
    --snapshot s.safetensors
run "$new" --continue old.safetensors --history "$old" -o rest.safetensors --resume s.safetensors \
    --deterministic && cmp a.safetensors rest.safetensors && echo "same"
run "$new" --continue old.safetensors -o rest.safetensors --resume s.safetensors
echo "status $?"
echo "likes: what is no like any more is no event"
dpmf train some.dpr --goal ranking --like 4 -k 8 -o likes.safetensors -q
sed '1b; s/,[^,]*$/,1/' some.csv | head -n 40 >changed.csv
printf '1,2,5\n' >>changed.csv
dpmf train changed.csv --continue likes.safetensors --history some.dpr -o l.safetensors 2>&1 |
    grep -E 'again|warning'
try() {
    dpmf train "$@" -o out.safetensors -q
    echo "status $?"
    test ! -e out.safetensors || echo "something was written"
}
echo "== another history"
for history in ratings-events.dpr three.csv; do
    dpmf train "$new" --continue n.safetensors --history "$history" -o n.safetensors 2>&1 |
        grep -E 'again|warning'
done
printf 'user,item,count\nzoe,1,1\nyan,nothing,1\n' >other.csv
try "$new" --continue old.safetensors --history other.csv
try "$new" --continue old.safetensors --history some.dpr
echo "== a model of ratings"
dpmf train some.dpr -k 4 --epochs 2 -o sgd.safetensors -q
try few.dpr --continue sgd.safetensors --history some.dpr
echo "== alone"
try few.dpr --history some.dpr
echo "== too little memory (how rows are padded depends on the kernels)"
DPMF_KERNELS=ref try "$new" --continue old.safetensors --history "$old" --memory 6MiB -j 2
