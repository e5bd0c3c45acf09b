printf 'user,item,rating\nann,dune,1\n' >in.csv
mkdir r.dpr
dpmf import in.csv -o r.dpr
