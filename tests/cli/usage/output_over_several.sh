# What a pattern or a folder stands for is an input, and a ledger is never an output.
XDG_STATE_HOME=$PWD/state
export XDG_STATE_HOME
mkdir -p ratings/day=1
printf 'user,item,rating\n1,2,3\n4,5,2\n' >ratings/a.csv
cp ratings/a.csv ratings/day=1/b.csv
dpmf ledger init -q
dpmf train 'ratings/*.csv' -q -k 2 --epochs 1 -o ratings/a.csv
dpmf train 'ratings/*/*.csv' -q -k 2 --epochs 1 -o ratings/day=1/b.csv
dpmf train ratings -q -k 2 --epochs 1 -o ratings/day=1/b.csv
dpmf split 'ratings/*.csv' --train ratings/a.csv --test t.dpr
for output in state/dpmf/ledger ./state/dpmf/ledger; do
    dpmf train ratings/a.csv -q -k 2 --epochs 1 -o "$output"
    dpmf import ratings/a.csv -o "$output"
    dpmf synth -q --users 5 --items 5 --ratings 9 -o "$output"
done
cmp ratings/a.csv ratings/day=1/b.csv
dpmf ledger show
