# A release that could not be written is not begun: nothing is reserved, and there is no ledger yet.
dpmf synth -q --users 300 --items 40 --ratings 6000 --catalogue-out items.csv -o r.dpr
mkdir there
for output in nonexist/x.safetensors there; do
    dpmf train r.dpr --epsilon 1 --rating-range 1:5 --catalogue items.csv --ledger l -o $output
    echo "status $?"
done
dpmf train r.dpr --epsilon 1 --rating-range 1:5 --catalogue items.csv --ledger l \
    --mechanism posterior --trace nonexist/t.svg -o x.safetensors
echo "status $?"
ls -A . there
