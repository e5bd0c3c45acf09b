dpmf
