# Of a pair in two inputs the last one wins.
printf 'user,item,rating\nann,dune,1\nbob,dune,2\n' >a.csv
printf 'cleo::dune::3::100\nann::dune::4::200\n' >b.dat
dpmf import a.csv b.dat -o r.dpr
dpmf export -q r.dpr --csv -
