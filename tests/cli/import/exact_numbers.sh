# Any double comes back with the same bits
printf '%s\n' user,item,rating a,a,0.1 a,b,-3.25 a,c,1e-300 a,d,123456789.123456789 a,e,1e300 \
    a,f,4.9e-324 >in.csv
dpmf import -q in.csv  -o r.dpr && dpmf export -q r.dpr --csv -
