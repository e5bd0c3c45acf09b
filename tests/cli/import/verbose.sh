printf 'user,item,rating\nann,dune,4\n' >in.csv
dpmf import in.csv -v -o r.dpr 2>&1 | grep -c -e spilled -e speed -e format
