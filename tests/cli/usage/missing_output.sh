dpmf import ratings.csv
