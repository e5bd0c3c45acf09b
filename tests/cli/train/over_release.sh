# A release was paid for and cannot be made again: nothing is trained over one without --replace. A
# checkpoint is replaced as it always was.
dpmf ledger init -q l
printf 'item\ndune\nalien\n' >items
printf 'user,item,rating\nann,dune,5\nbob,alien,3\n' >r.csv
private() {
    dpmf train -q r.csv --epsilon 1 --rating-range 1:5 --catalogue items --ledger l \
        -o m.safetensors "$@"
}
private && cp m.safetensors first.safetensors
private
echo "status $?"
dpmf train -q r.csv -k 2 --epochs 1 -o m.safetensors
echo "status $?"
cmp m.safetensors first.safetensors && echo "as it was"
dpmf ledger show --ledger l | grep -o 'in [0-9] release'
private --replace && ! cmp -s m.safetensors first.safetensors && echo replaced
dpmf train -q r.csv -k 2 --epochs 1 -o m.safetensors --replace
dpmf describe m.safetensors --json | grep -o '"kind":"[a-z]*"'
dpmf train -q r.csv -k 2 --epochs 1 -o m.safetensors
echo "status $?"
dpmf train -q r.csv --continue m.safetensors -o first.safetensors
echo "status $?"
