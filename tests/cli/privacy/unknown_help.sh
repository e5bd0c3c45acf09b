dpmf help privacy acount
