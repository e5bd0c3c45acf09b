dpmf help ledger return
diff <(dpmf help ledger return) <(dpmf ledger return --help)
