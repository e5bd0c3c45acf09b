# Budgets that are none.
for value in 0 -- -1 nan inf 1e400 1e10 5 5@ 5@2 5@0.5 5@0.00011 25@1e-5 five ''; do
    [[ $value == -- ]] && continue
    dpmf ledger budget --ledger ledger -- movies "$value"
    echo "exit $?"
done
ls -A
