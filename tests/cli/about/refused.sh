try() {
    printf '%b' "$1" >about.txt
    dpmf train ratings.dat --format movielens --epsilon 1 --rating-range 1:5 \
        --catalogue items.csv --ledger ledger --about about.txt \
        -o release.safetensors
    echo "status $?"
}
dpmf ledger init -q ledger
echo "item" >items.csv
echo "dune" >>items.csv
printf 'ann::dune::5\n' >ratings.dat
try 'title: a\ncontoller: b\n'
try 'epsilon: 0.1\n'
try 'title: a\x1b[2J\n'
try 'no field here\n'
try 'date: soon\n'
dpmf train ratings.dat --about about.txt -o model.safetensors
echo "status $?"
ls -- *.safetensors 2>/dev/null || echo "no file was made"
