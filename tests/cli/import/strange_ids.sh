# Ids are any text
printf 'user,item,rating\n-1,99999999999999999999999,1\nÅsa 🎬,日本,2\n,x,3\n' >in.csv
dpmf import -q in.csv --on-error skip -o r.dpr && dpmf export -q r.dpr --csv -
