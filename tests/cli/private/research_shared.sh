# With --research, ratings to measure on that say nothing of the release are refused before anything
# is spent, and before a file is written.
export XDG_STATE_HOME=$PWD/state
dpmf synth -q --users 60 --items 20 --ratings 600 --catalogue-out items.csv -o r.dpr
dpmf ledger init -q l
dpmf export -q r.dpr --csv r.csv
try() {
    dpmf train -q r.dpr --research --epsilon 1 --catalogue items.csv --ledger l -o x.safetensors \
        "$@"
    echo "exit $?"
}
try --rating-range 1:5 --valid r.csv
try --goal ranking --valid r.csv
sed '2,$s/[0-9.]*$/80/' r.csv >percent.csv
try --rating-range 1:5 --valid percent.csv
sed '2,$s/,/x,i/' r.csv >others.csv
try --rating-range 1:5 --valid others.csv
printf 'user,item,count\n1,2,1\n' >plays.csv
try --rating-range 1:5 --valid plays.csv
ls
dpmf ledger show --ledger l
