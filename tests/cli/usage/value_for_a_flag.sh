dpmf import ratings.csv -o r.dpr --json=yes
