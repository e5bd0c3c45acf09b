printf 'user,item,rating\n7,1,1\n8,1,2\n' >in.csv
printf '7\n1:\n' >probe.txt
dpmf split in.csv --probe probe.txt --train a.dpr --test b.dpr
status=$?
ls -A
exit $status
