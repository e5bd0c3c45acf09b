# A release from shards is the one from the store.
dpmf synth -q --users 300 --items 80 --ratings 6000 --catalogue-out items.csv -o r.dpr
dpmf shard -q r.dpr --parts 5 -o shards
for input in r.dpr shards; do
    dpmf train -q "$input" --epsilon 1 --rating-range 1:5 --catalogue items.csv \
        --insecure-noise-seed 3 -o out.safetensors 2>/dev/null
    length=$(od -An -tu8 -N8 out.safetensors | tr -d ' ')
    tail -c +$((length + 9)) out.safetensors | cksum
done | uniq | wc -l
