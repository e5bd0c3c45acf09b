mkdir tmp
TMPDIR=$PWD/tmp dpmf demo 2>/dev/null | head -n 1
ls -A tmp
