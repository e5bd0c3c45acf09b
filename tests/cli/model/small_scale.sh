# On a small scale numbers keep their digits: nothing is 0 that is not.
awk 'BEGIN { print "user,item,rating"
    for (u = 1; u <= 30; u++) for (i = 1; i <= 9; i++)
        printf "%d,%d,%g\n", u, i, (1 + (u * i) % 5) * 1e-6 }' >small.csv
dpmf train -q small.csv -k 2 --epochs 5 --no-adapt --deterministic -o m
printf '3,1\n3,2\n' | dpmf predict m - | sed 's/[0-9]$/x/'
dpmf evaluate m small.csv | grep -c '0\.0000'
dpmf recommend m --user 3 -n 2 -q | grep -c '0\.0000$'
dpmf recommend m --ratings 1:5e-6 -n 1 -q | grep -o '0\.00000[0-9]*' | awk '{ print length }'
dpmf recommend m --all-users -n 1 -q | sed -n 2p | tr , '\n' | awk 'NR != 4 { print length }'
dpmf explain m --ratings 1:5e-6 --item 2 -q | grep -c ' 0\.0000 '
true
