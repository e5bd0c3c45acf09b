# What is not a regular file is not replaced.
printf 'user,item,rating\nann,dune,4\n' >in.csv
mkfifo r.dpr
dpmf import in.csv -o r.dpr
status=$?
[[ -p r.dpr ]] && exit $status
