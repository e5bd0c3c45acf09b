# A closed stream does not lend its number to a store.
printf 'user,item,rating\nann,dune,1\n' >in.csv
dpmf import in.csv --json -q -o r.dpr >&-
echo $?
dpmf describe r.dpr --json 2>&- >/dev/null
echo $?
dpmf import - -q -o s.dpr <&-
