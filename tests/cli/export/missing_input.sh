dpmf export nothing.dpr --csv out
status=$?
ls -A
exit $status
