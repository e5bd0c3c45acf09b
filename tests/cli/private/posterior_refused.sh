dpmf synth -q --users 300 --items 40 --ratings 6000 --catalogue-out items.csv -o r.dpr
try() {
    dpmf train -q r.dpr --mechanism posterior --rating-range 1:5 --catalogue items.csv --ledger l \
        -o x.safetensors "$@"
    echo "$?"
}
for epsilon in 0 -1 nan inf 1e10 1e-320; do try --epsilon "$epsilon"; done
for kappa in -0.1 nan inf 1e30; do try --epsilon 1 --kappa "$kappa"; done
for rho in 0.5 nan 1e30; do try --epsilon 1 --rho "$rho"; done
for tau in 0 16777217; do try --epsilon 1 --max-ratings "$tau"; done
try --epsilon 1 --noise table
try --epsilon 1 --noise table:1024
ls
