# Other files, and a directory.
printf 'user,item,rating\n1,2,3\n' >ratings.csv
dpmf ledger show --ledger ratings.csv
echo "exit $?"
mkdir there
dpmf ledger show --ledger there
echo "exit $?"
dpmf ledger budget movies 5@1e-5 --ledger there/
