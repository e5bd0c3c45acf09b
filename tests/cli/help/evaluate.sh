dpmf help evaluate
diff <(dpmf help evaluate) <(dpmf evaluate --help)
