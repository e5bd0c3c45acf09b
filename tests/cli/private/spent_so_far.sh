# What a population has spent is printed after every release; a name that is new to a ledger that
# knows others is announced, also to those who want no notes; research and tuning are recorded.
dpmf synth -q --users 300 --items 40 --ratings 6000 --catalogue-out items.csv -o r.dpr
echo 41,extra >>items.csv
export XDG_STATE_HOME=$PWD/state
train() { dpmf train --replace r.dpr --rating-range 1:5 --catalogue items.csv -o x.safetensors \
    --epsilon 2 "$@" 2>&1 | sed -E "s/, in .*, written/, written/; s#$PWD#.#"; }
train
train --ledger-budget 3.3
train -q --population flims
train --research
dpmf tune -q r.dpr --trials 1 --epochs 1 --population default >/dev/null
dpmf tune -q r.dpr --trials 1 --ledger l
train -q --ledger l
dpmf ledger show | sed -E 's/^  [0-9a-f]{32}  .{23}/  ID TIME/'
