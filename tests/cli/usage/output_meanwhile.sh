# What another run wrote while this one was reading is kept.
printf 'user,item,rating\n1,a,3\n' >r.csv
mkfifo slow
dpmf import -q - --format csv -o x.dpr <slow 2>said &
exec 7>slow
printf 'user,item,rating\n1,a,3\n' >&7
printf 'somebody wrote this\n' >x.dpr
exec 7>&-
wait $!
echo "status $?"
cat said x.dpr
