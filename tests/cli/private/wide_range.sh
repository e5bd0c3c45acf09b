# A declared range far wider than the ratings makes a release of hardly anything but noise. The
# curator is told before anything is spent, and a stray rating hides nothing; it decides nothing.
export XDG_STATE_HOME=$PWD/state
dpmf ledger init -q l
dpmf synth -q --users 60 --items 20 --ratings 600 --catalogue-out items.csv -o s.dpr
dpmf export -q s.dpr --csv r.csv
try() {
    dpmf train r.csv --epsilon 1 --catalogue items.csv --ledger l --replace -o x.safetensors "$@" \
        2>&1 | grep -e 'warning: nearly' -e '"range_is_wide"' |
        sed 's/.*\("range_is_wide":[a-z]*\).*/\1/'
}
try --rating-range 1:5000 --json
try --rating-range 1:5000 -q
sed -i '2s/,[0-9.]*$/,5000/' r.csv
try --rating-range 1:5000 -q
try --rating-range 0:10 --json
try --goal ranking --json
dpmf privacy show x.safetensors | grep -c wide
exit 0
