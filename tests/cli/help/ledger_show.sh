dpmf help ledger show
diff <(dpmf help ledger show) <(dpmf ledger show --help)
