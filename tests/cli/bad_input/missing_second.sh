printf 'user,item,rating\nann,dune,1\n' >in.csv
dpmf import in.csv in2.csv -o r.dpr
status=$?
ls -A | grep -v -e '^in' # and no output
exit $status
