dpmf import x.csv --rescale -1.7e308:1.7e308=0:1 -o out.dpr
