# What is given is used in every trial.
dpmf synth -q --users 200 --items 60 --ratings 4000 -o ratings.dpr
dpmf tune ratings.dpr --trials 4 -k 12 --epochs 5 --json |
    grep -o '"event":"trial"\|"factors":[0-9]*\|"epochs":[0-9]*' | sort | uniq -c
