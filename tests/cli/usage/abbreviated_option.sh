dpmf import ratings.csv --out ratings.dpr
