# Years and kinds of a catalogue count in the taste of someone at home: five titles of one year
# bring more of that year, explain gives the very score of the list, and a catalogue that can be
# read only once is said to tell nothing.
dpmf synth -q --users 2000 --items 80 --ratings 60000 --catalogue-out titles.csv -o all.dpr
echo nobody,Nobody >>titles.csv
dpmf ledger init -q ledger
# Noise of a seed: what is counted below would now and then depend on it.
dpmf train -q all.dpr --epsilon 5 --rating-range 1:5 --catalogue titles.csv --ledger ledger \
    --insecure-noise-seed 1 -o r.safetensors 2>/dev/null
awk -F, 'NR == 1 { print "item,year,genres,title"; next }
    { print $1 "," (NR % 4 ? 1990 : 1950) "," (NR % 3 ? "Comedy" : "Drama|Noir") ",T" NR }' \
    titles.csv >items.csv
mine=$(awk -F, '$2 == 1950 && ++n <= 5 { printf "%s%s:5", (n > 1 ? "," : ""), $1 }' items.csv)
count() { dpmf recommend r.safetensors --ratings "$mine" -n 10 --taste 1 -q "$@" --json |
    grep -o '"item":"[^"]*"' | cut -d'"' -f4 | while read -r item; do grep "^$item,1950," items.csv
    done | wc -l; }
without=$(count) with=$(count --catalogue items.csv)
((with > without && with >= 6)) && echo more of the year || echo "$without, then $with"
field() { grep -o "\"$1\":[^,}]*" | head -n 1 | cut -d: -f2; }
dpmf recommend r.safetensors --ratings "$mine" -n 1 -q --catalogue items.csv --json >first
item=$(grep -o '"item":"[^"]*"' first | cut -d'"' -f4)
dpmf explain r.safetensors --ratings "$mine" --item "$item" -q --catalogue items.csv --json >why
[[ $(field score <first) == "$(field score <why)" ]] && echo the same score
cat items.csv | dpmf recommend r.safetensors --ratings "$mine" -n 1 --catalogue /dev/stdin 2>&1 \
    >list | grep -o 'its years and kinds.*'
