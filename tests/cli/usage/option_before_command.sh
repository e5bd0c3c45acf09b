dpmf --json describe ratings.dpr
