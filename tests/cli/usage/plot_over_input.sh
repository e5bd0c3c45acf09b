touch in.csv
ln -s in.csv link.csv
dpmf describe in.csv --plot link.csv
