# An edited ledger is refused, and by every command.
cp "$CLI_TESTS/ledger/two_populations.ledger" ledger && chmod 600 ledger
sed -i 's/"mu":0.268/"mu":0.168/' ledger
dpmf ledger show --ledger ledger
echo "exit $?"
dpmf ledger budget viewers 9@1e-5 --ledger ledger
