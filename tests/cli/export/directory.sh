printf '%s\n' user,item,rating,timestamp ann,dune,4.5,1000000000 ann,solaris,3,1000000100 \
    bob,dune,5,1100000000 cleo,dune,4.5,1200000000 >in.csv

umask 0
dpmf export in.csv --csv out
stat -c '%a %n' out out/ratings.csv
cat out/ratings.csv
