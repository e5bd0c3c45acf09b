# The same, small on the disk and long when unpacked.
head -c 200M /dev/zero | tr '\0' 'a' | gzip -1 >in.gz
timeout 100 dpmf import in.gz -o r.dpr
status=$?
ls -A
exit $status
