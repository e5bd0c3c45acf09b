# An audit leaves nothing behind, in the ledger or elsewhere.
mkdir tmp state
export TMPDIR=$PWD/tmp XDG_STATE_HOME=$PWD/state
dpmf synth -q --users 60 --items 40 --ratings 900 --catalogue-out items.csv -o ratings.dpr
dpmf audit -q ratings.dpr --epsilon 1 --rating-range 1:5 --catalogue items.csv --runs 2 \
    --minutes 1 >/dev/null
ls -A tmp state
ls
