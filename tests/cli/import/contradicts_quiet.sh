# A first line that contradicts --columns is warned of also with -q: a store made of it may become a
# release whose users are items.
printf 'item,user,rating\n7,1,5\n8,1,3\n' >x.csv
dpmf import -q x.csv --columns user,item,rating --on-error skip -o x.dpr
dpmf import x.csv --columns user,item,rating --on-error skip -o x.dpr 2>&1 | grep -c contradicts
