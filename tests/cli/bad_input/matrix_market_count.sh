# One entry fewer than announced: an error or, where each record is read by itself, a warning, so
# that no line of anyone's decides whether there is a store. It is no bad record.
printf '%%%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 4.5\n2 2 3\n' >in.mtx
dpmf import in.mtx --on-error skip --json -o in.dpr | grep -o '"skipped":[0-9]*'
dpmf import in.mtx -o r.dpr
status=$?
ls -A | grep -v -e '^in' # and no output
exit $status
