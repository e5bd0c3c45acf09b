# An address whose bracket is not closed
dpmf import 'postgres://[::1/x?table=ratings' -o r.dpr
echo "exit $?"
