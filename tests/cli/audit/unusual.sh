# What train would want accepted: an audit publishes nothing, so it warns and goes on.
dpmf synth -q --users 60 --items 40 --ratings 900 --catalogue-out items.csv -o ratings.dpr
dpmf audit ratings.dpr --epsilon 25 --delta 0.01 --rating-range 1:5 --catalogue items.csv \
    --runs 3 --users 20 | grep -o '^claimed.*'
