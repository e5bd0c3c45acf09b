printf 'user,item,rating\nann,dune,1\nbob,dune,2\n' >a.csv
dpmf import -q a.csv -o a.dpr && dpmf import -q a.dpr -o b.dpr && cmp a.dpr b.dpr
