printf 'user,item,rating\nann,dune,4\nann,dune,5\nbob,dune,x\n' >in.csv
dpmf import in.csv --on-error skip -o r.dpr --json -q
