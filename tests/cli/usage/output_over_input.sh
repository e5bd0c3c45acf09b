touch in.csv
dpmf import in.csv -o ./in.csv
