# A model of likes knows the scale of the ratings that it learned from: on another scale other
# ratings would be likes.
dpmf synth -q --users 90 --items 30 --ratings 1500 -o r.dpr
dpmf split -q r.dpr --train a.dpr --test b.dpr
dpmf export -q b.dpr --csv b.csv
awk -F, 'NR == 1 { print; next } { print $1 "," $2 "," 20 * $3 }' b.csv >percent.csv
train() { dpmf train -q a.dpr --goal ranking -k 4 --epochs 2 "$@"; }
train --like 4 -o likes.safetensors
train -o any.safetensors
try() {
    "$@" >/dev/null
    echo "exit $?" >&2
}
try dpmf evaluate -q likes.safetensors percent.csv --history a.dpr
try dpmf evaluate -q any.safetensors percent.csv --history a.dpr
try train --like 4 --valid percent.csv -o never.safetensors
try train --valid percent.csv -o valid.safetensors
try dpmf tune -q a.dpr --goal ranking --like 4 --valid percent.csv --trials 1 --epochs 2
try dpmf recommend -q likes.safetensors --ratings 1:100,2:80,3:60
try dpmf recommend -q any.safetensors --ratings 1:100,2:80,3:60
try dpmf recommend likes.safetensors --ratings 1:5,2:1,3:6
ls ./*.safetensors
