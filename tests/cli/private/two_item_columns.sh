# Which of two columns of items is meant, nobody can tell: neither in a catalogue nor in features.
export XDG_STATE_HOME=$PWD/state
printf 'user,item,rating\n1,1,5\n1,2,3\n2,1,4\n' >r.csv
printf 'item\n1\n2\n' >good.csv
printf 'item,item_id,genre\n1,2,a\n2,1,b\n' >two.csv
printf 'movieId,genre,itemId\n1,a,2\n2,b,1\n' >names.csv
for table in two names; do
    dpmf train -q r.csv --format csv --epsilon 1 --rating-range 1:5 --catalogue $table.csv \
        -o r.safetensors
    echo "status $?"
    dpmf train -q r.csv --format csv --epsilon 1 --rating-range 1:5 --catalogue good.csv \
        --item-features $table.csv -o r.safetensors
    echo "status $?"
    dpmf train -q r.csv --item-features $table.csv -o m.safetensors # without privacy, too
    echo "status $?"
done
printf 'user,userId,age\n1,2,old\n2,1,young\n' >users.csv
dpmf train -q r.csv --user-features users.csv -o m.safetensors
echo "status $?"
ls
