dpmf synth -q --users 200 --items 60 --ratings 4000 -o ratings.dpr
dpmf tune -q ratings.dpr --learning-rate 1000 --trials 3 >/dev/null
