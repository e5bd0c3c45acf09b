# The other name of return.
cp "$CLI_TESTS/ledger/two_populations.ledger" ledger && chmod 600 ledger
dpmf ledger init -q ledger
dpmf ledger release 0b9c4f3e7d1a48f2a6e55c8812d0f3aa --ledger ledger --quiet
grep -c '"state":"returned"' ledger
