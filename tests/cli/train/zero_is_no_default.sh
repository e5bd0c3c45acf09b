# Where 0 stands for a default in the library, whoever writes it means something else.
dpmf synth -q --users 60 --items 20 --ratings 900 --catalogue-out items.csv -o r.dpr
try() {
    dpmf train r.dpr -q -o m.safetensors "$@"
    echo "exit $?"
}
try --goal ranking --unobserved 0
posterior=(--epsilon 1 --mechanism posterior --rating-range 1:5 --catalogue items.csv --ledger l)
try "${posterior[@]}" --epochs 0
try "${posterior[@]}" -k 0
try "${posterior[@]}" --chains 0
ls
