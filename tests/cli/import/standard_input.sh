printf 'user,item,rating\nann,dune,4.5\n' | dpmf import -q - -o r.dpr
dpmf export -q - --csv - <r.dpr
