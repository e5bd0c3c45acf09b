# Bytes in the middle changed
{ echo user,item,rating; seq -f '%.0f,1,1' 1 20000; } | gzip -n >in.csv.gz; printf 'XXXX' |
    dd of=in.csv.gz bs=1 seek=3000 conv=notrunc status=none
dpmf import in.csv.gz -o r.dpr
status=$?
ls -A | grep -v -e '^in' # and no output
exit $status
