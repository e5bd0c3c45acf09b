# Item features of numbers that are most users' ids are noticed; years are not.
dpmf ledger init -q l
for i in $(seq 40); do echo "$i,i$((i % 7)),3" && echo "$i,i$((i % 5 + 7)),4"; done >rows
{ echo user,item,rating && cat rows; } >r.csv
{ echo item && for i in $(seq 0 60); do echo "i$i"; done; } >items
{ echo item,year && for i in $(seq 0 60); do echo "i$i,$((1960 + i % 50))"; done; } >years
{ echo item,public:code && for i in $(seq 0 60); do echo "i$i,$((i % 40 + 1)).0"; done; } >codes
for features in years codes; do
    dpmf train --replace -q r.csv --epsilon 1 --rating-range 1:5 --catalogue items \
        --item-features $features --ledger l -o x.safetensors
done
