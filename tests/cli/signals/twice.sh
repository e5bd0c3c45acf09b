# Two in a row, as timeout sends to the process and to its group: still cleaned up.
timeout --preserve-status -s INT 0.5 dpmf synth --like netflix -o r.dpr
status=$?
ls -A
exit $status
