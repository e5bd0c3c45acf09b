# A table of features whose ids are mostly written in another way, and one that fits.
dpmf synth -q --users 200 --items 40 --ratings 3000 -o r.dpr
(echo item,kind && for i in $(seq 40); do echo "$i,k$((i % 3))"; done) >fits.csv
awk -F, 'NR < 8 { print; next } { print "0" $0 }' fits.csv >few.csv
train() {
    dpmf train r.dpr -k 4 --epochs 3 --no-adapt --deterministic "$@" 2>&1 | grep warning
}
train --item-features fits.csv -o fits
train --item-features few.csv -o few
sed 's/item,kind/user,kind/' few.csv >people.csv
train --user-features people.csv -o people
true
