printf "user,item,rating\na,x,1\n" >in.csv
dpmf import -q in.csv -o r.dpr
dpmf describe - <r.dpr
