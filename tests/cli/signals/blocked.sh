# A run that waits for a pipe on which nothing comes still ends by the signal, and soon.
mkfifo pipe
exec 9<>pipe
timeout --foreground --preserve-status -s TERM 0.3 dpmf import - -o r.dpr <pipe
status=$?
ls -A
exit $status
