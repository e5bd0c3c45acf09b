printf 'user,item,rating\nann,dune,4\n' >ratings.csv
dpmf tune ratings.csv
