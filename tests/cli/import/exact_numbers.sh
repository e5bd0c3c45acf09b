# Any double comes back with the same bits
printf 'user,item,rating\na,a,0.1\na,b,-3.25\na,c,1e-300\na,d,123456789.123456789\na,e,1e300\na,f,4.9e-324\n' >in.csv
dpmf import -q in.csv  -o r.dpr && dpmf export -q r.dpr --csv -
