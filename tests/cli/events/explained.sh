# A model that ranks knows no ratings: there is no part for how someone rates, in models of events,
# of likes and in releases; JSON keeps its name. Of ratings the part stays
printf '%s\n' user,item,plays ann,a,3 ann,b,1 bob,a,2 bob,c,1 cleo,b,9 cleo,c,1 dan,a,1 dan,d,1 \
    >plays.csv
printf '%s\n' user,item,rating ann,a,5 ann,b,4 bob,a,2 bob,c,1 cleo,b,5 dan,d,3 dan,a,1 >rated.csv
printf '%s\n' item a b c d >items
dpmf train -q plays.csv -k 2 --deterministic -o plays.safetensors
dpmf train -q rated.csv --goal ranking --like 4 -k 2 --deterministic -o likes.safetensors
dpmf train -q rated.csv -k 2 --epochs 1 --deterministic -o ratings.safetensors
dpmf train -q plays.csv --epsilon 5 --catalogue items --insecure-noise-seed 1 \
    -o release.safetensors 2>/dev/null
for model in plays likes release ratings; do
    dpmf explain -q $model.safetensors --item c --ratings a:5,b:4 | sed '1,/^$/d' |
        grep -o ' [a-z ]*$' | head -4
    dpmf explain -q $model.safetensors --item c --ratings a:5,b:4 --json | grep -o '"habit":0,'
    echo "$model"
done
