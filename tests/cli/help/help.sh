dpmf help help
diff <(dpmf help help) <(dpmf help --help)
