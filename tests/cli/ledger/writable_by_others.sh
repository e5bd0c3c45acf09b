# A ledger that others can write proves nothing.
cp "$CLI_TESTS/ledger/two_populations.ledger" ledger && chmod 600 ledger
chmod 660 ledger
dpmf ledger show --ledger ledger
