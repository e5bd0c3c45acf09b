dpmf ledger init -q l
dpmf synth -q --users 300 --items 40 --ratings 6000 --catalogue-out items.csv -o r.dpr
dpmf train -q -j 2 r.dpr --epsilon 3 --mechanism posterior --rating-range 1:5 \
    --catalogue items.csv --ledger l --epochs 60 -k 4 --max-ratings 15 --trace chains.svg \
    -o x.safetensors
ls
stat -c %a chains.svg
dpmf privacy verify --accept conditional x.safetensors
dpmf privacy show x.safetensors |
    grep -v '^Privacy statement\|^made by\|^      \(commit\|compiler\|sources\) '
dpmf privacy show x.safetensors --json |
    grep -o '"kind":"[a-z]*"\|"delta":[^,]*\|"mu":[^,]*\|"releases":\[\]\|"one_rating":{[^}]*}'
dpmf describe x.safetensors | grep privacy
dpmf ledger show --ledger l | grep -o 'default.*\|committed.*'
dpmf recommend x.safetensors --ratings <(printf 'item,rating\n'; tail -n +2 items.csv | head \
    -3 | cut -d, -f1 | sed 's/$/,4/') -n 3 | wc -l
