printf "user,item,rating\na,b,zz\nc,d,3\nc,d,4\n" >in.csv
dpmf export in.csv --csv - --on-error skip 2>&1 | sed "s/ in [0-9.]* s$//"
