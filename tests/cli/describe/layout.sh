# How the ratings of a store were read, and whether private runs accept it: declared, guessed,
# dependent on other records, not recorded; and what `train --epsilon` does with it is the same.
printf 'user,item,rating\na,x,1\nb,y,5\n' >header.csv
printf 'a::x::1::3\nb::y::5::4\n' >plain.dat
printf 'x:\n1,3,2005-01-01\n2,5,2005-01-02\n' >blocks.txt
dpmf import -q header.csv --on-error skip -o declared.dpr
dpmf import -q header.csv -o strict.dpr
dpmf import -q plain.dat --on-error skip -o guessed.dpr
dpmf import -q blocks.txt --format netflix --on-error skip -o together.dpr
dpmf import -q declared.dpr guessed.dpr --on-error skip -o both.dpr
cp "$CLI_TESTS/fixtures/v0.1.0.dpr" old.dpr
dpmf ledger init -q ledger
for store in declared strict guessed together both old; do
    dpmf describe $store.dpr | grep 'read as'
    dpmf describe $store.dpr --json | grep -o '"layout".*"by_record":[a-z]*'
    dpmf train -q $store.dpr --epsilon 1 --rating-range 1:5 --catalogue-from-ratings \
        --ledger ledger -o $store.safetensors 2>&1 |
        grep -c 'dpmf: .*dpr'
done
# Text is read when it is used, as private runs need it.
dpmf describe header.csv | grep -c 'read as' || true
