# Options that rank best, and the command to train with; what an option says is held.
dpmf synth -q --users 200 --items 60 --ratings 4000 -o ratings.dpr
dpmf tune ratings.dpr --goal ranking --like 3 --trials 2 -k 8 --seed 3
dpmf tune -q ratings.dpr --goal ranking --unobserved 0.2 --trials 1 -k 8 --epochs 3 --json \
    -o m.safetensors
dpmf tune -q ratings.dpr --goal ranking --row-steps 5 --unobserved 0.2 --reg 0.01 --trials 1 -k 8 \
    --epochs 3 -j 1 -o 'a model' >page
mv 'a model' first
eval "$(tail -n 1 page) -q"
cmp first 'a model' && echo the same model
