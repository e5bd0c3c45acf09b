printf 'user,item,rating\nann,dune,1\nbob,dune,1,2,3\n' >in.csv
dpmf import in.csv -o r.dpr
status=$?
ls -A | grep -v -e '^in' # and no output
exit $status
