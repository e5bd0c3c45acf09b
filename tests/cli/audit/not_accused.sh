# What it prints; the noise is fresh every time. One audit in 10,000 of an honest mechanism accuses
# it: two in a row do so once in 100 million.
dpmf synth -q --users 60 --items 40 --ratings 900 --catalogue-out items.csv -o ratings.dpr
audit() {
    dpmf audit -q ratings.dpr --epsilon 1 --rating-range 1:5 --catalogue items.csv --runs 30 \
        --mechanism biases \
        --confidence 0.9999
}
{ audit 2>/dev/null || audit; } |
    sed -E 's/[0-9]+(\.[0-9]+)? (runs?|%|of what|of the bound|contributions)/N \2/g;
        s/least [0-9.]+/least X/g'
