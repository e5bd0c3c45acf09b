printf 'user,item,rating\nann,dune,x\n' >in.csv
dpmf import in.csv --on-error skip -o r.dpr
status=$?
ls -A | grep -v -e '^in' # and no output
exit $status
