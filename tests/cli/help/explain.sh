dpmf help explain
diff <(dpmf help explain) <(dpmf explain --help)
