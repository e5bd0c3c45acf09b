dpmf synth -q --users 60 --items 40 --ratings 900 --catalogue-out items.csv -o ratings.dpr
dpmf audit ratings.dpr --epsilon 1 --rating-range 1:5 --catalogue items.csv --runs 3 --users 20 \
    --json |
    sed -E 's/:(-?[0-9.e+-]+)/:N/g'
