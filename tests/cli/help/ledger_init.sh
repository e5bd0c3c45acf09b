dpmf help ledger init
diff <(dpmf help ledger init) <(dpmf ledger init --help)
