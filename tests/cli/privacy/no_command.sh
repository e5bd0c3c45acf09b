dpmf privacy
