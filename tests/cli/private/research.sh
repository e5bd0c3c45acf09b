export XDG_STATE_HOME=$PWD/state
dpmf synth -q --users 300 --items 40 --ratings 6000 --catalogue-out items.csv -o r.dpr
dpmf train r.dpr --research --epsilon 1 --rating-range 1:5 --catalogue items.csv \
    -o x.safetensors 2>&1 | grep research
dpmf privacy show x.safetensors | grep -i 'research'
ls
