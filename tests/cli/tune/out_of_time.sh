# Far more trials than there is time for.
dpmf synth -q --users 2000 --items 200 --ratings 100000 -o ratings.dpr
dpmf tune -q ratings.dpr --trials 10000 --minutes 0.03 --json | tail -n 1 |
    grep -o '"out_of_time":true'
