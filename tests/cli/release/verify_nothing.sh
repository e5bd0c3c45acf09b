dpmf privacy verify
