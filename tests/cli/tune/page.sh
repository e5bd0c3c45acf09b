# Six trials and the command to train with; the first trial has the defaults.
dpmf synth -q --users 200 --items 60 --ratings 4000 -o ratings.dpr
dpmf tune ratings.dpr --trials 6
