dpmf help tune
diff <(dpmf help tune) <(dpmf tune --help)
