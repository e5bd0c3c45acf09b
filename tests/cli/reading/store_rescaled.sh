printf "user,item,rating\na,x,1\nb,x,5\n" >r.csv
dpmf import -q r.csv -o r.dpr
dpmf export -q r.dpr --rescale 1:5=0:1 --csv -
dpmf export -q r.dpr --rating-range 4:5 --on-error skip --csv -
dpmf export r.dpr --rating-range 4:5 --csv -
