# CSV, store, CSV, store: the same text and the same bytes.
dpmf synth -q --users 400 --items 90 --ratings 8000 --scale 0:1 --timestamps -o a.dpr
dpmf export -q a.dpr --csv one
dpmf import -q one/ratings.csv -o b.dpr
dpmf export -q b.dpr --csv two
sort one/ratings.csv | cmp - <(sort two/ratings.csv) && echo same
dpmf import -q two/ratings.csv -o c.dpr && cmp b.dpr c.dpr
