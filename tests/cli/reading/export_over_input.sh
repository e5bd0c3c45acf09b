mkdir ml && printf "user,item,rating\na,x,1\n" >ml/ratings.csv
dpmf export ml/ratings.csv --csv ml
status=$?
cat ml/ratings.csv
exit $status
