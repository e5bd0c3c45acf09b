# More cores than the memory has room for runs: as many runs at once as it has.
dpmf synth -q --users 60 --items 40 --ratings 900 --catalogue-out items.csv -o ratings.dpr
DPMF_CORES=64 DPMF_RAM=2GiB dpmf audit ratings.dpr --epsilon 1 --rating-range 1:5 \
    --catalogue items.csv --runs 3 \
    --users 20 --json | grep -oE '"accused":[a-z]+'
