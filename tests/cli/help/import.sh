dpmf help import
diff <(dpmf help import) <(dpmf import --help)
