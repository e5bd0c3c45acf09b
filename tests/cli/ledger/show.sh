# What each population has spent, release by release.
cp "$CLI_TESTS/ledger/two_populations.ledger" ledger && chmod 600 ledger
dpmf ledger show --ledger ledger
