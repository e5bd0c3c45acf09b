dpmf help completion
diff <(dpmf help completion) <(dpmf completion --help)
