# A run with features continues with them: without them, or with others, the model would be another
# than the one that was begun.
dpmf synth -q --users 300 --items 80 --ratings 6000 -o r.dpr
awk 'BEGIN { print "item,kind,year"; for (i = 1; i <= 80; i++) print i ",k" i % 5 "," 1950 + i }' \
    >f.csv
awk -F, -v OFS=, 'NR == 7 { $3++ } { print }' f.csv >other.csv
awk 'BEGIN { print "user,age"; for (i = 1; i <= 300; i++) print i "," 20 + i % 50 }' >p.csv
learn() {
    dpmf train r.dpr -k 4 --no-adapt --decay 0 --deterministic --replace "$@" 2>&1 |
        grep -e error: -e '^  resume'
    echo "exit ${PIPESTATUS[0]}"
}
learn -q --epochs 2 --snapshot s.st --item-features f.csv -o m.st
learn --epochs 4 --resume s.st -o m.st
learn --epochs 4 --resume s.st --item-features other.csv -o m.st
learn --epochs 4 --resume s.st --item-features f.csv --user-features p.csv -o m.st
learn -q --epochs 4 --resume s.st --item-features f.csv -o m.st
learn -q --epochs 4 --item-features f.csv -o whole.st
cmp m.st whole.st && echo "as without a break"
learn -q --epochs 2 --snapshot s2.st -o m.st
learn --epochs 4 --resume s2.st --item-features f.csv -o m.st
