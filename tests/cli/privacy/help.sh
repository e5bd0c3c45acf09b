dpmf help privacy
diff <(dpmf help privacy) <(dpmf privacy --help)
