dpmf synth -q --users 200 --items 60 --ratings 4000 -o ratings.dpr
dpmf tune ratings.dpr --trials 2 -k 8 --reg 0.1 --seed 3 --json -o m.safetensors
