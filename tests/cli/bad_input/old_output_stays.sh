# A failed import leaves the store that is there alone.
printf 'user,item,rating\nann,dune,1\n' >good.csv
printf 'user,item,rating\nann,dune,x\n' >bad.csv
dpmf import -q good.csv -o r.dpr
cp r.dpr before.dpr
dpmf import -q bad.csv -o r.dpr
status=$?
cmp r.dpr before.dpr
ls -A
exit $status
