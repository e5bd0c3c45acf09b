dpmf synth -q --users 300 --items 40 --ratings 6000 --catalogue-out items.csv -o r.dpr
try() {
    dpmf train -q r.dpr --rating-range 1:5 --catalogue items.csv --ledger l -o x.safetensors "$@"
    echo "$?"
}
try --epsilon 1 --mechanism posterior --delta 1e-6
try --epsilon 1 --mechanism posterior --learning-rate 0.1
try --epsilon 1 --mechanism posterior --noise exact
try --epsilon 1 --mechanism posterior --item-features items.csv
try --epsilon 1 --mechanism posterior -k 1000
try --epsilon 1 --kappa 1
try --epsilon 1 --max-ratings 10
try --epsilon 1 --chains 2
dpmf train -q r.dpr --rho 1 -o x.safetensors
echo "$?"
dpmf audit r.dpr --epsilon 1 --mechanism posterior --rating-range 1:5 --catalogue items.csv
echo "$?"
ls
