printf '%%%%MatrixMarket matrix coordinate integer general\n%% a comment\n' >in.csv
printf '2 3 3\n1 1 4\n2 2 3\n1 3 5\n' >>in.csv
dpmf import -q in.csv  -o r.dpr && dpmf export -q r.dpr --csv -
