dpmf synth -q --users 300 --items 40 --ratings 6000 --catalogue-out items.csv -o r.dpr
for threads in 1 3; do
    dpmf train -q -j $threads r.dpr --epsilon 1 --rating-range 1:5 --catalogue items.csv \
        --insecure-noise-seed 7 -o x$threads.safetensors
done
dpmf privacy verify -q x1.safetensors >/dev/null
echo "$?"
dpmf privacy show x1.safetensors | grep -m1 'NOT PRIVATE'
ls
