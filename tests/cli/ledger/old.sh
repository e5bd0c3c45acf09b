# A ledger of 0.1.0, whose budget is an epsilon: it counts at the smallest delta claimed, 1e-5 at
# most, and is carried on.
cp "$CLI_TESTS/ledger/two_populations.ledger" ledger && chmod 600 ledger
grep -c '"version":1,' ledger
dpmf ledger show --ledger ledger | head -n 2
dpmf ledger init -q ledger
dpmf ledger budget readers 1.2 --ledger ledger
grep -c '"version":2,' ledger
dpmf ledger show --ledger ledger | head -n 2
