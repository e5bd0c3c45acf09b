# The first row says nothing about the others: not how many columns they have, nor that it is a
# header
dpmf ledger init -q l
printf 'item\ni1\ni2\ni3\n' >items
for u in $(seq 200); do for i in 1 2 3; do echo "u$u::i$i::$((1 + (u + i) % 5))::$u"; done
done >ratings
try() {
    { printf '%s' "$1"; cat ratings; } >r.dat
    dpmf train --replace r.dat --format movielens --epsilon 1 --rating-range 1:5 --catalogue items \
        --ledger l -o x.safetensors --json 2>&1 |
        grep -o 'bad records.*\|error: .*\|"users":[0-9]*,"ratings":[0-9]*'
}
try ''
try $'mallory::i1::5\n'
try $'alice::thematrix::good\n'
try $'user::item::rating\n'
