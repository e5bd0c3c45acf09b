# The same option in every form, before and after the operands.
printf 'user,item,rating\na,x,1\nb,y,2\n' >-r.csv
dpmf import -q -o a.dpr -- -r.csv
dpmf import -qoa2.dpr ./-r.csv
dpmf import ./-r.csv --quiet --output=a3.dpr
dpmf import --output a4.dpr ./-r.csv -q -q
cmp a.dpr a2.dpr && cmp a.dpr a3.dpr && cmp a.dpr a4.dpr
dpmf export a.dpr --csv - -q
