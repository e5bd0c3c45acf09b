dpmf help similar
diff <(dpmf help similar) <(dpmf similar --help)
