{ echo user,item,rating; yes 1,2,3; } |
    timeout --foreground --preserve-status -s INT 0.7 dpmf import - -o r.dpr
status=$?
ls -A
exit $status
