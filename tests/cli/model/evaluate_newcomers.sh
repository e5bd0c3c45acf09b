# Users of the history whom a checkpoint does not know are fitted to it, as recommend fits them:
# what recommend puts first is what evaluate finds first
# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_model m.safetensors '' counts
tiny_history before.csv
printf '%s\n' eve,brazil,5 eve,dune,1 fay,dune,5 gus,unheard-of,5 >>before.csv
for user in eve fay gus; do
    dpmf recommend m.safetensors --user $user --history before.csv -n 3 2>/dev/null
    first=$(dpmf recommend -q m.safetensors --user $user --history before.csv -n 1 --json |
        sed 's/.*"item":"\([a-z]*\)".*/\1/')
    printf '%s\n' user,item,rating "$user,$first,4" >$user.csv
    dpmf predict -q m.safetensors --user $user --item "$first" --history before.csv
    dpmf evaluate m.safetensors $user.csv --history before.csv --ranking -n 1 >page
    grep -E '^(MAE|ndcg|users ranked)' page
    printf '%s\n' user,item,others "$user,$first,alien,solaris,brazil" >row.csv
    dpmf evaluate m.safetensors --candidates row.csv --history before.csv -n 1
done
dpmf evaluate m.safetensors eve.csv --history before.csv --json | grep -o '"unknown_users":.*"mo'
dpmf evaluate -q m.safetensors --candidates row.csv --history before.csv -n 1 --json
# The same for a model that ranks, where ratings below --like say nothing
printf '%s\n' user,item,rating ann,a,5 ann,b,5 bob,a,5 bob,b,5 bob,c,1 cleo,c,5 cleo,d,5 >r.csv
dpmf train -q r.csv --goal ranking --like 4 -k 2 --epochs 3 -o e.safetensors
printf '%s\n' user,item,rating eve,a,5 fay,d,5 gus,a,1 >new.csv
printf '%s\n' user,item,rating eve,b,5 fay,c,5 gus,b,5 >later.csv
dpmf evaluate e.safetensors later.csv --history new.csv -n 1 >page
grep -E '^(ndcg|users ranked)' page
