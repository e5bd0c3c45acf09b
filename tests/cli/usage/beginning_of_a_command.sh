dpmf desc ratings.dpr
