# CR LF line ends
printf 'user,item,rating\r\nann,dune,4.5\r\nbob,dune,5\r\n' >in.csv
dpmf import -q in.csv  -o r.dpr && dpmf export -q r.dpr --csv -
