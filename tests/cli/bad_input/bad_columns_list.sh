printf 'ann,dune,1\n' >in.csv
dpmf import in.csv --columns user,thing,rating -o r.dpr
status=$?
ls -A | grep -v -e '^in' # and no output
exit $status
