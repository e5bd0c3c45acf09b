dpmf help export
diff <(dpmf help export) <(dpmf export --help)
