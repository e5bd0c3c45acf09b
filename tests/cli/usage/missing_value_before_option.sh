dpmf import ratings.csv --output --json
