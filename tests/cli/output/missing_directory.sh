printf 'user,item,rating\nann,dune,1\n' >in.csv
dpmf import in.csv -o nowhere/r.dpr
