dpmf help predict
diff <(dpmf help predict) <(dpmf predict --help)
