# Inputs on different scales, and ratings that are times
import() {
    dpmf import "$@" --replace -o r.dpr 2>&1 | grep warning
}
printf 'user,item,rating\n1,1,5\n1,2,4\n' >five.csv
printf 'user,item,rating\n2,1,100\n2,2,80\n' >hundred.csv
printf 'user,item,rating\n3,1,1\n3,2,2\n' >bad_film.csv
import five.csv hundred.csv
import hundred.csv five.csv --rescale 0:100=0:5
import five.csv bad_film.csv # without a word
long() {
    echo 'user,item,rating'
    for i in {1..100}; do echo "$i,$1,$((1 + i % $1))"; done
}
long 5 >a.csv
long 10 >b.csv
import a.csv b.csv
printf 'user,item,rating\n1,1,1577836800\n1,2,1577836900\n2,1,3\n' >times.csv
import times.csv
printf '1 1 1577836800\n1 2 1577836900\n' >times.txt
import times.txt --format libmf
printf '{"user":1,"item":2,"value":1577836800}\n' >times.jsonl
import times.jsonl
true
