dpmf privacy plan --users 0 --items 20 --ratings-per-user 3
