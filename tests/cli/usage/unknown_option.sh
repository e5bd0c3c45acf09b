dpmf import ratings.csv --ouput ratings.dpr
