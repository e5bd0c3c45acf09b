dpmf privacy plan --users 10 --items 20 --ratings-per-user 21
