printf 'user,item,rating\na,x,1\n' >in.csv
dpmf import in.csv -o r.dpr --memory 1k
