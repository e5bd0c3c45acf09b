# With nothing left to look for there is one trial.
dpmf synth -q --users 200 --items 60 --ratings 4000 -o ratings.dpr
dpmf tune ratings.dpr -k 4 --epochs 2 --reg 0 --learning-rate 0.01
