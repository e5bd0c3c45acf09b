# Users, items and ratings whose names and numbers could not be mistaken for anything else.
{
    echo user,item,rating
dpmf ledger init -q l
    for i in {1..50}; do echo "marked-user-$i,item$((i % 7)),$((1 + i % 5))"; done
} >marked-file.csv
for i in {0..9}; do echo "item$i"; done >items
dpmf train -q marked-file.csv --epsilon 5 --rating-range 1:5 --catalogue items \
    --population marked-people --ledger l -o x.safetensors
grep -a -c -e marked -e "$PWD" -e "$(date +%Y)" -e '"users"' -e '"ratings"' x.safetensors
