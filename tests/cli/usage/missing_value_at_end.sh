dpmf import ratings.csv -o
