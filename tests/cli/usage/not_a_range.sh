dpmf import ratings.csv -o r.dpr --rating-range 5:1
