{ echo user,item,rating; head -c 70000 /dev/zero | tr '\0' a; echo ,dune,1; } >in.csv
dpmf import in.csv -o r.dpr
status=$?
ls -A | grep -v -e '^in' # and no output
exit $status
