# A release that is not proven is exported, and what it assumes is said whatever is silenced:
# whoever publishes it must have seen it once.
dpmf ledger init -q l
printf 'user,item,rating\nann,dune,5\nbob,alien,3\n' >r.csv
dpmf train -q r.csv --epsilon 1 --rating-range 1:5 --catalogue-from-ratings --ledger l \
    -o r.safetensors
dpmf export -q r.safetensors --npy vectors --json |
    grep -o '"kind":"[a-z ]*","assumptions":[^]]*]'
dpmf export -q r.safetensors --web site
dpmf export -q r.safetensors --sqlite r.db
dpmf export -q "$CLI_TESTS/fixtures/release.safetensors" --npy proven --json |
    grep -o '"kind":"[a-z ]*","assumptions":[^]]*]'
