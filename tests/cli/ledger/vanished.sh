# A ledger that is gone, or was put back from an old copy, has forgotten something.
dpmf ledger init -q ledger
dpmf ledger budget movies 5@1e-5 --ledger ledger --quiet
cp ledger copy
dpmf ledger budget books 5@1e-5 --ledger ledger --quiet
cp copy ledger
dpmf ledger show --ledger ledger
echo "exit $?"
rm ledger
dpmf ledger budget movies 5@1e-5 --ledger ledger
