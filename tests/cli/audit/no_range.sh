dpmf synth -q --users 60 --items 40 --ratings 900 --catalogue-out items.csv -o ratings.dpr
dpmf audit ratings.dpr --epsilon 1 --catalogue items.csv
