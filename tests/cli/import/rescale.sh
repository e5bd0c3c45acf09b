printf 'user,item,rating\nann,dune,100\nann,solaris,50\nbob,dune,0\n' >in.csv
dpmf import -q in.csv --rescale 0:100=0:5 -o r.dpr && dpmf export -q r.dpr --csv -
