# The predicted rating beside an item is that of predict: on the scale of the ratings. Scores go on,
# so that there is an order among the best.
awk 'BEGIN { print "user,item,rating"
    for (u = 1; u <= 40; u++) for (i = 1; i <= 12; i++) if ((u + i) % 4) {
        r = 3 + 2 * (u % 3 - 1) + 2 * (i % 3 - 1)
        print u "," i "," (r < 1 ? 1 : r > 5 ? 5 : r) } }' >r.csv
dpmf train -q r.csv -k 1 --epochs 40 --no-adapt --deterministic -o m.s
top() { dpmf recommend m.s --history r.csv "$@" 2>/dev/null; }
top --all-users -n 3 |
    awk -F, 'NR > 1 && $5 > 5 { n++ } $3 > 5 { m++ } END { print n + 0, (m > 0) }'
top --user 2 -n 3 --by rating | awk 'NR > 1 && $2 > 5 { n++ } END { print n + 0, NR }'
top --user 2 -n 3 --json | tr , '\n' |
    awk -F: '/"rating"/ { n++; bad += $2 > 5 } END { print n, bad }'
item=$(top --user 2 -n 1 --json | grep -o '"item":"[0-9]*"' | grep -o '[0-9]*')
dpmf predict m.s <(echo "2,$item") | tail -n 1 | cut -d, -f3
top --user 2 -n 1 --json | grep -o '"rating":[0-9.]*'
