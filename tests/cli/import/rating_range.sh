printf 'user,item,rating\nann,dune,1\nbob,dune,5\n' >in.csv
dpmf import -q in.csv --rating-range 1:5 -o r.dpr && dpmf export -q r.dpr --csv -
