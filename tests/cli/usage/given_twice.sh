dpmf import ratings.csv -o a.dpr --output b.dpr
