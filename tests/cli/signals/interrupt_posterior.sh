# SIGINT in a round of a posterior release that takes many seconds: no release, and in the ledger
# what was reserved is given up.
dpmf ledger init -q l
dpmf synth -q --users 3000 --items 2000 --ratings 300000 --catalogue-out items.csv -o r.dpr
SECONDS=0
timeout --foreground --preserve-status -s INT 3 \
    dpmf train r.dpr -q --mechanism posterior --epsilon 10 --rating-range 1:5 \
    --catalogue items.csv \
    -k 256 --max-ratings 1000 --ledger l -o x.safetensors
status=$?
((SECONDS < 13)) || echo "ended after $SECONDS seconds"
ls -A
dpmf ledger show --ledger l | grep -o 'default.*\|returned.*'
exit $status
