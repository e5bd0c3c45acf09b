dpmf import ratings.csv -o r.dpr --rescale 0:100
