{ echo user,item,rating; seq -f '%.0f,1,1' 1 20000; } | gzip -n | head -c 5000 >in.csv.gz
dpmf import in.csv.gz -o r.dpr
status=$?
ls -A | grep -v -e '^in' # and no output
exit $status
