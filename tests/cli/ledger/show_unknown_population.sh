# A population that the ledger does not know.
cp "$CLI_TESTS/ledger/two_populations.ledger" ledger && chmod 600 ledger
dpmf ledger show --ledger ledger --population listeners
