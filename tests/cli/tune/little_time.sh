# There is always a first epoch; what it has found by then is what there is.
dpmf synth -q --users 200 --items 60 --ratings 4000 -o ratings.dpr
dpmf tune ratings.dpr --minutes 0.00001 --json | sed 's/"seconds":[^,}]*//' |
    grep -o '"end":"[a-z]*","epochs_run":[0-9]*\|"out_of_time":[a-z]*\|"trials":[0-9]*'
