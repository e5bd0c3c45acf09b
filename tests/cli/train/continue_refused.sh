# What cannot be continued, or not so, is refused with a reason, and nothing is written.
dpmf synth --users 100 --items 40 --ratings 2000 --seed 3 -o old.dpr --catalogue-out items.csv -q
dpmf train old.dpr -k 4 --epochs 2 -o old.safetensors -q
printf 'user,item,rating\nann,1,5\nann,2,1\n' >new.csv
try() {
    dpmf train "$@" -o out.safetensors -q
    echo "status $?"
    test ! -e out.safetensors || echo "something was written"
}
echo "== private"
try new.csv --continue old.safetensors --epsilon 1
echo "== what the model has decided"
try new.csv --continue old.safetensors -k 8
try new.csv --continue old.safetensors --solver gibbs
try new.csv --continue old.safetensors --learning-rate 0.1
try new.csv --continue old.safetensors --chains 2
try new.csv --continue old.safetensors --catalogue items.csv
echo "== a release"
dpmf train old.dpr --epsilon 5 --rating-range 1:5 --catalogue items.csv --insecure-noise-seed 1 \
    --ledger ledger -o release.safetensors -q 2>/dev/null
try new.csv --continue release.safetensors
echo "== a sample"
dpmf train old.dpr --solver gibbs -k 4 --epochs 4 -o gibbs.safetensors -q 2>/dev/null
try new.csv --continue gibbs.safetensors
echo "== another scale"
printf 'user,item,rating\nann,1,50\nann,2,100\n' >percent.csv
try percent.csv --continue old.safetensors
echo "== events"
printf 'user,item\nann,1\nann,2\n' >events.csv
dpmf import events.csv --events -o events.dpr -q
try events.dpr --continue old.safetensors
echo "== one that ranks by likes, another scale and events"
printf 'user,item,rating\nann,1,10\nann,2,2\n' >ten.csv
dpmf train old.dpr --goal ranking --like 4 -k 4 --epochs 2 -o likes.safetensors -q
try ten.csv --continue likes.safetensors
try events.dpr --continue likes.safetensors
dpmf train new.csv --continue likes.safetensors -o more.safetensors -q
try ten.csv --continue more.safetensors
echo "== one of events, and ratings"
dpmf import old.dpr --like 4 -o liked.dpr -q
dpmf train liked.dpr -k 4 --epochs 2 -o liked.safetensors -q
try new.csv --continue liked.safetensors
dpmf train events.dpr --continue liked.safetensors -o more.safetensors -q && echo "events go on"
echo "== little memory"
dpmf import new.csv -o new.dpr -q
try new.dpr --continue old.safetensors --memory 6MiB -j 2
echo "== no model"
try new.csv --continue new.csv
try new.csv --continue nothing.safetensors
echo "== a wider scale is widened, and said"
printf 'user,item,rating\nann,1,0.5\nann,2,5\n' >half.csv
dpmf train half.csv --continue old.safetensors -o wide.safetensors 2>&1 | grep widened
dpmf describe wide.safetensors --json | grep -o '"min":[0-9.]*'
