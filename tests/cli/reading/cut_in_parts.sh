# A file that was cut into parts has its header in the first alone.
printf 'item,user,rating\n10,1,3\n11,1,4\n' >pa.csv
printf '10,2,3\n11,2,4\n' >pb.csv
dpmf import pa.csv pb.csv -o parts.dpr
echo "status $?"
dpmf import pb.csv pa.csv --on-error skip -o parts.dpr
echo "status $?"
printf 'user,item,rating\n10,1,3\n' >pa.csv
dpmf import -q pa.csv pb.csv -o parts.dpr
echo "status $?"
