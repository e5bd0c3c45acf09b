dpmf help doctor
diff <(dpmf help doctor) <(dpmf doctor --help)
