printf '0 1 4.5\n1 0 3\n1 2 5\n' >in.csv
dpmf import -q in.csv  -o r.dpr && dpmf export -q r.dpr --csv -
