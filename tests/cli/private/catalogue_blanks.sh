# Blanks before the ids of a catalogue count, so that no rating is of such an item.
dpmf synth -q --users 80 --items 20 --ratings 900 -o r.dpr
{ echo 'title, item'; for i in $(seq 1 20); do echo "t$i, $i"; done; } >blanks.csv
dpmf train r.dpr --epsilon 1 --rating-range 1:5 --insecure-noise-seed 1 --progress never \
    --catalogue blanks.csv -o a.safetensors 2>&1 | grep -e blanks -e outside
