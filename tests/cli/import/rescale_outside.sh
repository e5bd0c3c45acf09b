# Ratings outside the scale that --rescale maps are mapped outside the new one: told, as is nothing
# where all are inside.
printf 'user,item,rating\n1,2,4\n1,3,9\n' >in.csv
dpmf import in.csv -o o.dpr --rescale 1:5=0:10 2>&1 | grep warning
dpmf import in.csv -o o.dpr --rescale 1:10=0:1 2>&1 | grep warning
dpmf import in.csv -o o.dpr --rescale 1:10=5:0 2>&1 | grep warning
exit 0
