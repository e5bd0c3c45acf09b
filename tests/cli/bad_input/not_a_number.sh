# The decimal comma
printf 'user,item,rating\nann,dune,4.5\nbob,dune,\"4,5\"\n' >in.csv
dpmf import in.csv -o r.dpr
status=$?
ls -A | grep -v -e '^in' # and no output
exit $status
