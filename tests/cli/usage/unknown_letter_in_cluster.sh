dpmf import ratings.csv -qx
