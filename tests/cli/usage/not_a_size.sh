dpmf import ratings.csv -o r.dpr --memory lots
