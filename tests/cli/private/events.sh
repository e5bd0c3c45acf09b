# A private release for ranking: of ratings with --goal ranking, of events without being told, with
# wishes and features; what it holds, how it is used at home, and what makes no sense of it. Numbers
# that noise decides are not printed.
dpmf ledger init -q l
dpmf synth -q --users 800 --items 60 --ratings 24000 --catalogue-out items.csv -o r.dpr
release() { # release FILE INPUT OPTIONS
    local out=$1 input=$2
    shift 2
    dpmf train --replace \
        -q "$input" --epsilon 20 --catalogue items.csv --ledger l --json -o "$out" "$@" |
        grep -o -e '"mechanism":"[a-z]*","kind":"[a-z ]*","assumptions":[^]]*]' \
            -e '"users":[0-9]*' -e '"out_of_range":[0-9]*'
}
release a.safetensors r.dpr --goal ranking
dpmf privacy verify a.safetensors | head -1
dpmf privacy show a.safetensors | grep -cw 'ratings\?'
dpmf privacy show a.safetensors | grep -o '^      \(popularity\|round .\|vote\) ' | uniq -c
dpmf describe a.safetensors |
    sed 's/with [0-9]* factors/with factors/; s/ counts .*/ counts so much/; /file /d'

echo "== events, with counts; a store knows"
dpmf export -q r.dpr --csv ratings.csv
awk -F, 'NR == 1 { print "user,item,count" } NR > 1 { print $1 "," $2 "," NR }' \
    ratings.csv >plays.csv
dpmf import -q plays.csv --on-error skip -o plays.dpr
release b.safetensors plays.dpr
dpmf privacy verify b.safetensors | head -1

echo "== wishes and features"
printf 'user,epsilon\n1,0\n2,0.5\n' >wishes.csv
awk -F, 'NR == 1 { print "item,kind" } NR > 1 { print $1 "," NR % 3 }' items.csv >features.csv
release c.safetensors r.dpr --goal ranking --user-privacy wishes.csv --item-features features.csv
dpmf privacy verify c.safetensors | head -1

echo "== likes of ratings: what is below the bound takes no part, and a store without a declared \
layout stays refused"
release d.safetensors r.dpr --like 4
release e.safetensors ratings.csv --like 5
release f.safetensors ratings.csv --like any
dpmf privacy verify d.safetensors | head -1
dpmf import -q ratings.csv -o strict.dpr
dpmf train --replace -q strict.dpr --like 4 --epsilon 1 --catalogue items.csv --ledger l \
    -o x.safetensors 2>&1 | head -1
dpmf split -q r.dpr --train before.dpr --test after.dpr
dpmf train --replace \
    before.dpr --like 4 --research --valid after.dpr --epsilon 20 --catalogue items.csv --ledger l \
    -o x.safetensors 2>&1 |
    sed -n 's/0\.[0-9]*/x/g; s/.*\(recall@10 x, ndcg@10 x on after.dpr\|nan\)/\1/p'

echo "== at home"
dpmf recommend a.safetensors --ratings 3:1,7:1 -n 3 | wc -l
dpmf recommend a.safetensors --ratings 3:1,7:1 -n 60 --taste 0 --json | grep -c '"rating"'
dpmf predict a.safetensors r.dpr 2>&1 >/dev/null | head -2
dpmf recommend a.safetensors --ratings 3:1 --by rating 2>&1 | head -1

dpmf export -q a.safetensors --web site --catalogue items.csv && ls site

echo "== what makes no sense"
try() {
    dpmf train --replace -q "$@" --ledger l --epsilon 1 --catalogue items.csv -o x.safetensors 2>&1
    echo "status $?"
}
try r.dpr --goal ranking --rating-range 1:5
try r.dpr --goal ranking --mechanism residual
try r.dpr --goal rating --mechanism events --rating-range 1:5
try r.dpr --like four
try plays.dpr --like 4
try plays.dpr --goal rating --rating-range 1:5
try plays.dpr --mechanism residual --rating-range 1:5
# A store of events is a history for it, and what it is measured with
dpmf synth -q --users 300 --items 60 --ratings 6000 --events --catalogue-out titles.csv -o e.dpr
dpmf train --replace \
    -q e.dpr --epsilon 5 --catalogue titles.csv --insecure-noise-seed 1 -o e.safetensors
dpmf evaluate e.safetensors e.dpr | head -1
dpmf recommend e.safetensors --all-users --history e.dpr -n 3 --json | grep -c '"rank":1'
