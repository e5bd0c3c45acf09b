dpmf synth -q --users 300 --items 40 --ratings 6000 --catalogue-out items.csv -o r.dpr
dpmf split -q r.dpr --train before.dpr --test after.dpr
# The numbers do not depend on the threads, but the id of a release is random.
for threads in 1 3; do
    dpmf train --replace -q -j $threads r.dpr --epsilon 5 --rating-range 1:5 --catalogue items.csv \
        --insecure-noise-seed 7 -o x.safetensors
    dpmf evaluate x.safetensors after.dpr --history before.dpr --json
done | uniq | wc -l
