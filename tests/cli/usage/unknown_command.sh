dpmf imprt ratings.csv
