dpmf synth -q --users 200 --items 60 --ratings 4000 -o ratings.dpr
dpmf tune ratings.dpr --minutes 0
