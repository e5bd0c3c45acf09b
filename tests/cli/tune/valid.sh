dpmf synth -q --users 200 --items 60 --ratings 4000 -o ratings.dpr
dpmf split -q ratings.dpr --train train.dpr --test test.dpr
dpmf tune train.dpr --valid test.dpr --trials 2 -k 4 --json |
    grep -o '"train_ratings":.*"out_of_time"'
# The other store of a split is no hindrance to another split with the same seed.
dpmf tune train.dpr --trials 1 -k 4 --json | grep -o '"out_of_time":false'
