dpmf synth -q --users 50 --items 20 --ratings 500 --catalogue-out items.csv -o r.dpr
dpmf train r.dpr --patience 2 -o m.safetensors
echo $?
dpmf train r.dpr --patience 2 --epsilon 1 --research --rating-range 1:5 --catalogue items.csv \
    -o m.safetensors
