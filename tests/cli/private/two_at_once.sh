# Two runs that write under one name: the one that is second to publish finds the other's release,
# leaves it and gives its reservation back.
dpmf ledger init -q l
printf 'item\na\nb\n' >items
printf 'user,item,rating\nu,a,4\nv,b,3\n' >r.csv
mkfifo wishes
train() {
    dpmf train -q r.csv --epsilon 1 --rating-range 1:5 --catalogue items --ledger l \
        -o x.safetensors "$@" 2>&1 | grep -v 'exactly the set of rated items'
    echo "${PIPESTATUS[0]}"
}
train --user-privacy wishes >first &
exec 3>wishes # when the first run has looked where to write, and waits for its list
train
cp x.safetensors second.safetensors
echo 'user,epsilon' >&3
exec 3>&-
wait
cat first
cmp x.safetensors second.safetensors && dpmf privacy verify -q x.safetensors >/dev/null &&
    echo whole
dpmf ledger show --ledger l --json | grep -o '"state":"[a-z]*"'
