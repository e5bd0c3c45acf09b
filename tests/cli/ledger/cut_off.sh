# A ledger whose last lines are gone.
cp "$CLI_TESTS/ledger/two_populations.ledger" ledger && chmod 600 ledger
head -n 4 ledger >short && chmod 600 short
dpmf ledger show --ledger short
echo "exit $?"
head -c 300 ledger >torn && chmod 600 torn
dpmf ledger show --ledger torn
echo "exit $?"
: >empty
dpmf ledger show --ledger empty
