printf 'user,item,rating\nann,dune,6\n' >in.csv
dpmf import in.csv --rating-range 1:5 -o r.dpr
status=$?
ls -A | grep -v -e '^in' # and no output
exit $status
