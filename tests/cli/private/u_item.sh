# MovieLens 100K's u.item has no header and a column of 0 and 1 for each genre: as features and as
# the facts of a catalogue it says what movies.dat says
row() { # row ID TITLE GENRE...: u.item numbers genres from 0, which is unknown
    local id=$1 title=$2 i
    shift 2
    printf '%s|%s|01-Jan-1995||http://example.org/%s' "$id" "$title" "$id"
    for i in {0..18}; do [[ " $* " == *" $i "* ]] && printf '|1' || printf '|0'; done
    echo
}
names=(unknown Action Adventure Animation "Children's" Comedy Crime Documentary Drama Fantasy
    Film-Noir Horror Musical Mystery Romance Sci-Fi Thriller War Western)
for i in {1..60}; do
    year=$((1940 + i * 37 % 60)) a=$((1 + i % 18)) b=$((1 + i * 5 % 18))
    ((a <= b)) || read -r a b <<<"$b $a"
    genres=${names[a]}
    ((a == b)) || genres+="|${names[b]}"
    row "$i" "Caf"$'\xe9'" $i ($year)" "$a" "$b" >>u.item
    echo "$i::Film $i ($year)::$genres" >>movies.dat
done
row 61 unknown 0 >>u.item
echo '61::unknown::(no genres listed)' >>movies.dat
dpmf synth -q --users 300 --items 60 --ratings 9000 -o r.dpr
for features in u.item movies.dat; do
    dpmf train -q r.dpr --item-features $features -k 4 --epochs 3 --deterministic -o $features.m
    dpmf train -q r.dpr --goal ranking --epsilon 5 --catalogue u.item --item-features $features \
        --insecure-noise-seed 1 -o $features.r 2>/dev/null
    dpmf recommend -q u.item.r --ratings 3:1,7:1,12:1 -n 8 --catalogue $features --json |
        sed 's/"title":"[^"]*",//' >$features.list
done
cmp u.item.list movies.dat.list
for model in m r; do
    cmp <(dpmf similar -q u.item.$model --item 3 -n 59 --json) \
        <(dpmf similar -q movies.dat.$model --item 3 -n 59 --json)
done
dpmf similar -q u.item.m --item 3 -n 59 --json | grep -c '"cosine":0\.'
dpmf recommend -q u.item.r --ratings 3:1,7:1,12:1 -n 8 --json | sed 's/"title":"[^"]*",//' |
    cmp -s - u.item.list || echo "the list at home is another one with genres"
echo "== what is none"
sed '5s/.$/2/' u.item >bad
dpmf train -q r.dpr --item-features bad -o x.m
sed 's/|[01]$//' u.item >short
dpmf train -q r.dpr --item-features short -o x.m
