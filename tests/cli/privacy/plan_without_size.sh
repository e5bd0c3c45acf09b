dpmf privacy plan --users 10 --items 20
