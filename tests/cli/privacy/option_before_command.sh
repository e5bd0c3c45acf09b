dpmf privacy --json account
