printf 'user,item,rating\nann,dune,4.5\n' | dpmf import -q - -o r.dpr
dpmf export -q r.dpr --csv -
printf 'user,item,rating\nbob,dune,3\n' | dpmf export -q - --csv -
