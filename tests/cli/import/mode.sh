# Only the owner can read a store, whatever the umask says.
printf 'user,item,rating\nann,dune,4\n' >in.csv
umask 0
dpmf import -q in.csv -o r.dpr && stat -c %a r.dpr
