# A reservation is given back; a published release is not; nor what is not there.
cp "$CLI_TESTS/ledger/two_populations.ledger" ledger && chmod 600 ledger
dpmf ledger init -q ledger
dpmf ledger return 0B9C4F3E7D1A48F2A6E55C8812D0F3AA --ledger ledger
dpmf ledger return 0b9c4f3e7d1a48f2a6e55c8812d0f3aa --ledger ledger --json
dpmf ledger show --ledger ledger --population viewers
dpmf ledger return 5f1d7a0c93e24b6688a1c0de4f7b2e11 --ledger ledger
echo "exit $?"
dpmf ledger return 5f1d7a0c --ledger ledger
