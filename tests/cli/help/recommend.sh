dpmf help recommend
diff <(dpmf help recommend) <(dpmf recommend --help)
