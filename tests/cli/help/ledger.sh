dpmf help ledger
diff <(dpmf help ledger) <(dpmf ledger --help)
