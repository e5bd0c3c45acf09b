# Users in the place of items, and of what is known about items: a bare list looks like any other,
# so the curator is warned before anything is spent. Items that are rated, and the numbers that
# users and items share, are no alarm.
dpmf ledger init -q l
{
    echo user,item,rating
    for u in ann bob cid dan; do
        for i in a b c d; do echo "$u,$i,$((${#u} + 1))"; done
    done
} >r.csv
printf 'ann\nbob\ncid\ndan\n' >users.txt
printf 'a\nb\nc\nd\ne\n' >items.txt
printf 'item,genre\na,ann|war\nb,ann|war\nc,ann|love\nd,bob|war\ne,bob|love\n' >features.csv
train() {
    dpmf train --replace "$@" --epsilon 1 --rating-range 1:5 --ledger l -o x.safetensors 2>err
    echo "$?"
    grep -o '[0-9]* users\? ha.* people.*' err
}
train r.csv --catalogue users.txt
train r.csv --catalogue <(cat items.txt users.txt)
train r.csv --catalogue items.txt --item-features features.csv
train r.csv --catalogue items.txt
sed 's/ann/1/; s/bob/2/; s/cid/3/; s/dan/4/; s/,a,/,1,/; s/,b,/,2,/; s/,c,/,3,/; s/,d,/,5,/' \
    r.csv >numbers.csv
printf '1\n2\n3\n4\n5\n' >numbers.txt
train numbers.csv --catalogue numbers.txt
true
