printf 'timestamp,rating,movieId,userId\n100,4.5,dune,ann\n200,5,dune,bob\n' >in.csv
dpmf import -q in.csv  -o r.dpr && dpmf export -q r.dpr --csv -
