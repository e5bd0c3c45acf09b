# Bad records alone: an empty store where each was read by itself, since it may feed a private run;
# else an error and no output
printf 'user,item,rating\nann,dune,x\n' >in.csv
dpmf import -q in.csv --on-error skip -o r.dpr
echo "exit $?"
printf '1:\nann,x\n' >in.txt
dpmf import -q in.txt --format netflix --on-error skip -o s.dpr
status=$?
ls -A | grep -v -e '^in'
exit $status
