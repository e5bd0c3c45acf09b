# The store does not depend on the number of threads or the memory.
dpmf synth -q --users 3000 --items 500 --ratings 200000 --seed 3 -o s.dpr
dpmf export -q s.dpr --csv - | { read -r header; echo "$header"; sort -t, -k2,2 -k1,1
} >shuffled.csv
dpmf import -q shuffled.csv -j 1 -o a.dpr
dpmf import -q shuffled.csv -j 4 -o b.dpr
cmp a.dpr b.dpr
dpmf import -q shuffled.csv --memory 64MiB -o c.dpr
cmp a.dpr c.dpr
diff <(dpmf export -q a.dpr --csv - | sort) <(dpmf export -q s.dpr --csv - | sort) && echo same
