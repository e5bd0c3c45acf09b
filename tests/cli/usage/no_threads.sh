dpmf import ratings.csv -o r.dpr -j 0
