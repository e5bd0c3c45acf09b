dpmf help ledger budget
diff <(dpmf help ledger budget) <(dpmf ledger budget --help)
