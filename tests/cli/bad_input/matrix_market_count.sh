# One entry fewer than announced
printf '%%%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 4.5\n2 2 3\n' >in.mtx
dpmf import in.mtx -o r.dpr
status=$?
ls -A | grep -v -e '^in' # and no output
exit $status
