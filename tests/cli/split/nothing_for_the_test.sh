printf 'user,item,rating\nann,dune,1\n' >in.csv
dpmf split in.csv --test-fraction 0.000001 --train a.dpr --test b.dpr
status=$?
ls -A
exit $status
