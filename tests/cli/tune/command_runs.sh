# The printed command is ready for a shell, whatever the file is called, and trains the model of -o.
dpmf synth -q --users 200 --items 60 --ratings 4000 -o r.dpr
mkdir "it's"
dpmf export -q r.dpr --csv "it's"
dpmf tune -q "it's/ratings.csv" --trials 2 --epochs 3 -j 1 --rating-range 1:5 -o 'a model' >page
tail -n 1 page | grep -o "'it'.*csv'\|--threads.*\|--epochs 3"
mv 'a model' first
eval "$(tail -n 1 page) -q"
cmp first 'a model' && echo the same model
