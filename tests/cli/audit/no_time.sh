# --minutes keeps its word: with no time for the worlds there is no verdict.
dpmf synth -q --users 60 --items 40 --ratings 900 --catalogue-out items.csv -o ratings.dpr
dpmf audit ratings.dpr --epsilon 1 --rating-range 1:5 --catalogue items.csv --minutes 1e-9
