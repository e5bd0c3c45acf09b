dpmf import ratings.csv --frobnicate
