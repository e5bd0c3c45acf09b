# What is learned further from events is measured on events
printf '%s\n' user,item,plays ann,a,3 ann,b,1 bob,a,2 bob,c,1 cleo,b,9 cleo,c,1 >plays.csv
printf '%s\n' user,item,plays dan,a,1 dan,d,1 ann,c,2 >new.csv
dpmf train -q plays.csv -k 2 --deterministic -o m
dpmf train new.csv --continue m --history plays.csv --epochs 1 --deterministic -o more 2>&1 |
    grep -o 'error on the new [a-z]*\|vectors with new [a-z]*'
printf '%s\n' user,item,rating ann,a,3 ann,b,1 bob,a,2 bob,c,1 cleo,b,5 cleo,c,1 >rated.csv
printf '%s\n' user,item,rating dan,a,1 dan,d,1 ann,c,2 >rated_too.csv
dpmf train -q rated.csv -k 2 --epochs 1 --deterministic -o r
dpmf train rated_too.csv --continue r --epochs 1 --deterministic -o more.r 2>&1 |
    grep -o 'error on the new [a-z]*'
