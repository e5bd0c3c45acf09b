# A ledger without its lock file may be an old copy: it is shown, but nothing is spent from it until
# it is accepted.
dpmf ledger init -q ledger
dpmf ledger budget movies 5@1e-5 --ledger ledger -q
dpmf ledger budget books 5@1e-5 --ledger ledger -q
rm ledger.lock
dpmf ledger show --ledger ledger
dpmf ledger budget movies 1 --ledger ledger
echo "exit $?"
printf 'user,item,rating\n1,2,3\n' >r.csv
printf 'item\n2\n' >items.csv
dpmf train r.csv --epsilon 1 --rating-range 1:5 --catalogue items.csv --ledger ledger \
    -o out.safetensors
echo "exit $?"
dpmf ledger init ledger
dpmf ledger budget movies 1 --ledger ledger
dpmf ledger init ledger
echo "exit $?"
