dpmf help split
diff <(dpmf help split) <(dpmf split --help)
