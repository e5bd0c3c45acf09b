# In a file of RecBole the header says what ids are. Of floats, 1, 1.0 and 1e0 are one person: once
# in the ratings, and in the wishes too; what is no whole number is a bad record by itself.
dpmf ledger init -q l
printf 'item\n7\nx\n' >items
printf 'user_id:float\titem_id:token\trating:float\n' >head
printf '%s\n' $'1\t7\t3' $'1.0\tx\t4' $'2\t7\t5' $'ann\t7\t5' $'1.5\t7\t5' \
    $'9007199254740993\t7\t5' $'\t7\t5' >rows
cat head rows >r.inter
dpmf import -q r.inter --on-error skip -o r.dpr
dpmf export -q r.dpr --csv -
dpmf import r.inter -o none.dpr
for wish in 1 1.0 001 10e-1 2.0 3 ann 1.5 9007199254740992; do
    printf 'user,epsilon\n%s,0\n' $wish >wishes.csv
    for input in r.inter r.dpr; do
        dpmf train -q --replace $input --epsilon 1 --rating-range 1:5 --catalogue items \
            --user-privacy wishes.csv --ledger l -o x.safetensors --json >said 2>err
        echo "$input $wish: $?" \
            "$(grep -o '"users_left_out":[0-9]*\|"wishes_of_nobody":[0-9]*' said | paste -sd ' ')"
        grep '^dpmf: error' err
    done
done
# Users of two files that their headers declare differently may be spelled in two ways.
sed 's/user_id:float/user_id:token/' head >texts.inter
cat rows >>texts.inter
dpmf import -q r.inter texts.inter --on-error skip -o both.dpr
dpmf describe both.dpr | grep -o 'private runs.*'
# A list of users is no id, and neither is what nobody knows.
for type in token_seq float_seq int; do
    sed "s/user_id:float/user_id:$type/" head >odd.inter
    cat rows >>odd.inter
    dpmf train -q odd.inter --epsilon 1 --rating-range 1:5 --catalogue items --ledger l -o y
    echo $?
done
# Where the columns are listed, ids are texts, and a header that declares otherwise is reported, as
# is one that names other columns.
warned() { grep -c 'the first line contradicts --columns' said || :; }
dpmf import r.inter --format inter --columns user,item,rating --on-error skip -o listed.dpr 2>said
warned
dpmf export -q listed.dpr --csv - | grep -c .
printf 'item_id:token\tuser_id:token\trating:float\n7\t1\t3\n' |
    dpmf import - --format inter --columns user,item,rating --on-error skip -o other.dpr 2>said
warned
printf 'user_id:token\titem_id:token\trating:float\n7\t1\t3\n' |
    dpmf import - --format inter --columns user,item,rating --on-error skip -o same.dpr 2>said
warned
