# The same for scripts; one population alone. The last digits of what is computed are the machine's.
cp "$CLI_TESTS/ledger/two_populations.ledger" ledger && chmod 600 ledger
dpmf ledger show --ledger ledger --json | sed -E 's/([0-9]\.[0-9]{6})[0-9]{5,}/\1/g'
dpmf ledger show --ledger ledger --population viewers --json | wc -l
