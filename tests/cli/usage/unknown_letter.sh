dpmf import ratings.csv -x
