dpmf import ratings.csv -o r.dpr --format cvs
