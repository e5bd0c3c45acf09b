printf 'ann,dune,4.5\nbob,dune,5\n' >in.csv
dpmf import -q in.csv  -o r.dpr && dpmf export -q r.dpr --csv -
