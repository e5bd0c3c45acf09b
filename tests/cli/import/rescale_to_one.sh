# A scale whose ends are equal would make one number of all ratings.
printf 'user,item,rating\n1,1,1\n1,2,5\n2,1,3\n' >r.csv
dpmf import r.csv -o r.dpr --rescale 1:5=0:0
echo $?
dpmf import r.csv -o r.dpr --rescale 5:5=0:1
echo $?
dpmf import -q r.csv -o r.dpr --rescale 1:5=5:1
dpmf export -q r.dpr --csv -
