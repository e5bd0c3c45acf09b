printf 'user,item,rating\nann,dune,5\n' >ratings.csv
dpmf privacy verify ratings.csv
