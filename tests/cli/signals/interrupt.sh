# SIGINT: nothing is left, and the shell sees the signal.
timeout --foreground --preserve-status -s INT 0.5 dpmf synth --like netflix -o r.dpr
status=$?
ls -A
exit $status
