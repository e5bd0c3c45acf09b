# The limit of the shell on file sizes stands in for a full disk.
trap '' XFSZ
(ulimit -f 64; dpmf synth -q --users 20000 --items 500 --ratings 500000 -o r.dpr)
status=$?
ls -A
exit $status
