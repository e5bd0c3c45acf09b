dpmf help ledger release
diff <(dpmf help ledger release) <(dpmf ledger release --help)
