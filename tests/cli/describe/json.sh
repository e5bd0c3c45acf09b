printf 'user,item,rating,timestamp\nann,dune,4.5,1000000000\nann,solaris,3,1000000100\nbob,dune,5,1100000000\ncleo,dune,4.5,1200000000\n' >in.csv
dpmf describe in.csv --json
dpmf import -q in.csv -o in.dpr && dpmf describe in.dpr --json
