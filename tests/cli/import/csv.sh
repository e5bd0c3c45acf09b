printf 'user,item,rating\nann,dune,4.5\nann,solaris,3\nbob,dune,5\n' >in.csv
dpmf import -q in.csv  -o r.dpr && dpmf export -q r.dpr --csv -
