timeout --foreground --preserve-status -s TERM 0.5 dpmf synth --like netflix -o r.dpr
status=$?
ls -A
exit $status
