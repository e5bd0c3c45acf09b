dpmf synth -q --users 300 --items 40 --ratings 6000 --catalogue-out items.csv -o r.dpr
unset HOME XDG_STATE_HOME
dpmf train -q r.dpr --epsilon 1 --rating-range 1:5 --catalogue items.csv -o x.safetensors; status=$?
ls; exit $status
