# What is not taken for events, and what may not be done with them
printf 'user,item,plays\nann,x,3\n' >plays.csv
printf 'user,item,rating\nann,x,3\n' >ratings.csv
try() {
    dpmf "$@"
    echo "exit $?"
}
for count in 0 -1 1.5 nan 1e300; do
    printf 'user,item,count\nann,x,%s\n' "$count" | try import - -o e.dpr
done
try import ratings.csv --events -o e.dpr
try import plays.csv ratings.csv -o e.dpr
try import plays.csv --like 2 -o e.dpr
try import plays.csv --rating-range 1:5 -o e.dpr
try import ratings.csv --like 4 -o e.dpr
try import ratings.csv --like much -o e.dpr
printf 'user,item,when\n1,2,3\n' | try import - -o e.dpr
printf '1,2,3\n' | try import - --events -o e.dpr
printf 'kunde,artikel\n1,2\n' | try import - -o e.dpr
try train plays.csv --solver sgd -o m.safetensors
try train plays.csv --goal rating -o m.safetensors
try train plays.csv --like 4 -o m.safetensors
dpmf synth -q --users 30 --items 9 --ratings 150 --events -o s.dpr
try tune s.dpr --goal ranking --like 4 --trials 1
rm s.dpr
try train ratings.csv --valid plays.csv --goal ranking -o m.safetensors
ls
