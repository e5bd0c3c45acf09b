export XDG_STATE_HOME=$PWD/state
dpmf synth -q --users 300 --items 40 --ratings 6000 --catalogue-out items.csv -o r.dpr
dpmf split -q r.dpr --train before.dpr --test after.dpr
dpmf train before.dpr --research --valid after.dpr --epsilon 1 \
    --rating-range 1:5 --catalogue items.csv -o x.safetensors 2>&1 |
    sed -n 's/RMSE [0-9][0-9.]* on/RMSE x on/p' # the noise decides x
