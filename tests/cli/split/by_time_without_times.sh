printf 'user,item,rating\nann,dune,1\nbob,dune,2\n' >in.csv
dpmf split in.csv --by time --train a.dpr --test b.dpr
status=$?
ls -A
exit $status
