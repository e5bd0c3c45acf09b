dpmf --versoin
