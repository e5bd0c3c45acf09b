# Test items above a rating are not to be had of events: --like X is refused, --like any is all
printf '%s\n' user,item,plays ann,a,3 ann,b,1 bob,a,2 bob,c,7 cleo,b,9 cleo,c,1 >plays.csv
printf '%s\n' user,item,rating ann,c,5 bob,b,2 >rated.csv
dpmf import -q plays.csv --on-error skip -o plays.dpr
dpmf train -q plays.dpr -k 2 -o m
for test in plays.dpr plays.csv; do
    dpmf evaluate -q m $test --like 4
    echo "exit $?"
    dpmf evaluate -q m $test --like any | cmp - <(dpmf evaluate -q m $test) && echo 'all of them'
done
dpmf evaluate -q m rated.csv --like 4 | grep ratings
dpmf train -q rated.csv -k 2 --epochs 1 -o r
dpmf evaluate -q r plays.dpr --ranking --like 4
echo "exit $?"
