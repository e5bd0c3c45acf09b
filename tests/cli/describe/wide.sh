# Many values: equal bins.
{ echo user,item,rating; for ((i = 0; i < 500; i++)); do echo "u$i,x,$i.125"; done; } >in.csv
dpmf describe in.csv | tail -n 21
