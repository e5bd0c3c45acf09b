# One word in a column of numbers would make a category of each number; so would decimal commas.
dpmf synth -q --users 200 --items 40 --ratings 3000 --catalogue-out items.csv -o r.dpr
train() {
    dpmf train -q r.dpr -k 4 --epochs 1 --no-adapt --item-features "$1" -o "$1.m"
    echo "$1: status $?"
}
(echo item,year && for i in $(seq 40); do echo "$i,$((1960 + i % 9)).0"; done) >numbers.csv
sed '5s/,.*/,unknown/' numbers.csv >word.csv
sed '5s/,.*/,/' numbers.csv >empty.csv
sed -E '2,$s/,(.*)[.]0/,"\1,5"/' numbers.csv >commas.csv
(echo item,genres && for i in $(seq 40); do echo "$i,$((i % 3))"; done) | sed '5s/$/|7/' >lists.csv
(echo item,grade && for i in $(seq 40); do echo "$i,$((i % 3))"; done) |
    sed -E '8,$s/,/,g/' >codes.csv
(echo item,zip && for i in $(seq 40); do echo "$i,9$((i % 3))"; done) | sed '5s/,9/,T8/' >zips.csv
for table in numbers word empty commas lists codes zips; do train $table.csv; done 2>&1
dpmf train r.dpr --epsilon 1 --rating-range 1:5 --catalogue items.csv --item-features word.csv \
    --insecure-noise-seed 1 -o r.safetensors
dpmf train r.dpr -k 4 --epochs 1 --no-adapt --item-features zips.csv -o zips.m 2>&1 |
    grep 'zips.csv:'
