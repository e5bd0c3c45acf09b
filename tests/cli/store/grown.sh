printf 'user,item,rating\nann,dune,1\n' >in.csv
dpmf import -q in.csv -o r.dpr
echo more >>r.dpr
dpmf describe r.dpr
