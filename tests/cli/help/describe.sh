dpmf help describe
diff <(dpmf help describe) <(dpmf describe --help)
