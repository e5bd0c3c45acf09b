printf 'user,item,rating\nann,dune,good\n' >in.csv
dpmf import in.csv -o r.dpr
status=$?
ls -A | grep -v -e '^in' # and no output
exit $status
