printf "user,item,rating\na,b,3\n" >one.csv
printf "user,item,rating\n" >two.csv
: >three.csv
dpmf import one.csv two.csv three.csv -o out.dpr 2>&1 | sed "s/ in [0-9.]* s$//"
dpmf import two.csv three.csv -o none.dpr
