dpmf privacy account --help
diff <(dpmf privacy account --help) <(dpmf help privacy account)
