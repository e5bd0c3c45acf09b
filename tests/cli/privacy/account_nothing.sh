dpmf privacy account
