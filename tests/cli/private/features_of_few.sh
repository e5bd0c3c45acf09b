# Public features whose ids are mostly written in another way, and a column that helps nothing.
dpmf synth -q --users 80 --items 20 --ratings 900 --catalogue-out items.csv -o r.dpr
(echo item,kind,director && for i in $(seq 20); do echo "$i,k$((i % 2)),d$i"; done) >fits.csv
awk -F, 'NR < 8 { print; next } { print "0" $0 }' fits.csv >few.csv
train() { dpmf train r.dpr --epsilon 1 --rating-range 1:5 --catalogue items.csv --progress never \
    --insecure-noise-seed 1 --item-features "$1" -o "$1.safetensors" 2>&1 |
    grep -e column -e only; }
train fits.csv
train few.csv
