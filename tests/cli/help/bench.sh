dpmf help bench
diff <(dpmf help bench) <(dpmf bench --help)
