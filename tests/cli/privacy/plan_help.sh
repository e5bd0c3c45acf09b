dpmf privacy plan --help
diff <(dpmf privacy plan --help) <(dpmf help privacy plan)
