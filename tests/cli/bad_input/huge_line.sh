# Ten gigabytes without a line end: the reader gives up early, and does not keep them.
head -c 10G /dev/zero | tr '\0' 'a' | timeout 100 dpmf import - -o r.dpr
status=$?
ls -A
exit $status
