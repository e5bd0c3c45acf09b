# An output takes the place of what its verb writes; anything else only with --replace, and a
# ledger or its lock never.
XDG_STATE_HOME=$PWD/state
export XDG_STATE_HOME
printf 'user,item,rating\n1,2,3\n4,5,2\n7,2,1\n' >ratings.csv
printf 'user,epsilon\n1,0\n' >wishes.csv
dpmf ledger init -q
dpmf import -q ratings.csv -o r.dpr
dpmf train r.dpr -q -k 2 --epochs 1 -o m.safetensors
cp "$CLI_TESTS/fixtures/release.safetensors" release.safetensors
sha256sum wishes.csv release.safetensors state/dpmf/ledger state/dpmf/ledger.lock >before
try() {
    echo "$*"
    "$@" 2>&1 | grep -v '^dpmf: warning'
}
train=(dpmf train r.dpr -q -k 2 --epochs 1)
echo "== refused"
for output in wishes.csv r.dpr release.safetensors state/dpmf/ledger.lock; do
    [[ $output == r.dpr ]] || try "${train[@]}" -o "$output"
    try "${train[@]}" -o m.safetensors --snapshot "$output"
    [[ $output == r.dpr ]] || try dpmf import -q ratings.csv -o "$output"
    [[ $output == r.dpr ]] || try dpmf split ratings.csv -q --train a.dpr --test "$output"
    try dpmf synth -q --users 5 --items 5 --ratings 9 -o s.dpr --truth "$output"
    try dpmf synth -q --users 5 --items 5 --ratings 9 -o s.dpr --catalogue-out "$output"
    try dpmf describe ratings.csv --plot "$output"
    [[ $output == *.dpr ]] || try dpmf tune ratings.csv -q --trials 1 -o "$output"
done
try dpmf import -q ratings.csv -o m.safetensors
cp release.safetensors out.csv
try dpmf export -q r.dpr --csv out.csv
cmp release.safetensors out.csv
echo "a text" >notes.csv
mkdir out
echo "a text" >out/ratings.csv
chmod 400 notes.csv
try dpmf export -q r.dpr --csv notes.csv
try dpmf export -q r.dpr --csv out
cmp notes.csv out/ratings.csv
sha256sum --check --quiet before && echo "nothing has changed"
ls a.dpr s.dpr 2>/dev/null
echo "== replaced"
try dpmf import -q ratings.csv -o r.dpr
try "${train[@]}" -o m.safetensors
: >empty
try "${train[@]}" -o empty
try dpmf export -q r.dpr --csv out.csv --replace
head -n 1 out.csv
try dpmf export -q r.dpr --csv out --replace
head -n 1 out/ratings.csv
: >new.csv
try dpmf export -q r.dpr --csv new.csv
head -n 1 new.csv
try dpmf train r.dpr -q -k 2 --epochs 1 -o wishes.csv --replace
dpmf describe wishes.csv --json | grep -o '"kind":"[a-z]*"'
try dpmf import -q ratings.csv -o release.safetensors --replace
dpmf describe release.safetensors --json | grep -o '"users":[0-9]*'
echo "== never"
try "${train[@]}" --replace -o state/dpmf/ledger.lock
rm state/dpmf/ledger.lock
try "${train[@]}" --replace -o state/dpmf/ledger.lock
dpmf ledger show
