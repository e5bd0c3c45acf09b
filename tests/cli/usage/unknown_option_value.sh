dpmf import ratings.csv --fromat=csv -o r.dpr
