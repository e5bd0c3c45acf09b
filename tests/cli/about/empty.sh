# A declaration that says nothing is a slip: the budget would be spent on a release without it.
dpmf ledger init -q l
printf 'user,item,rating\n1,1,1\n1,2,5\n2,1,3\n' >r.csv
printf 'item\n1\n2\n3\n' >items.csv
: >nothing.txt
printf '# to be written\n\n' >comments.txt
for about in nothing comments; do
    dpmf train r.csv --epsilon 1 --rating-range 1:5 --catalogue items.csv --ledger l \
        --about "$about.txt" -o x.st
    echo $?
done
dpmf ledger show --ledger l
exit 0
