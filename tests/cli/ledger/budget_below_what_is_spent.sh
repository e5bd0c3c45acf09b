# A budget below what is spent: the ledger says so.
cp "$CLI_TESTS/ledger/two_populations.ledger" ledger && chmod 600 ledger
dpmf ledger init -q ledger
dpmf ledger budget viewers 1@1e-5 --ledger ledger
dpmf ledger show --ledger ledger --population viewers
