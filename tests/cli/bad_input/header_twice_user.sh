printf 'user,user,item,rating\nann,ann,dune,1\n' >in.csv
dpmf import in.csv -o r.dpr
status=$?
ls -A | grep -v -e '^in' # and no output
exit $status
