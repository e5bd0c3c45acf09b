dpmf help demo
diff <(dpmf help demo) <(dpmf demo --help)
