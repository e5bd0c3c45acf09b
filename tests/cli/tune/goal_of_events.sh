# Without --goal the data decide, as in train: what is for ranking is taken with events, what is for
# sgd is refused with them and not ignored; and --goal rating names the file it was given
dpmf synth -q --users 300 --items 60 --ratings 4500 --events --seed 3 -o events.dpr
dpmf synth -q --users 300 --items 60 --ratings 4500 --seed 3 -o rated.dpr
try() {
    dpmf tune "$@" --trials 1 -k 4 --epochs 2 --json >out
    echo "exit $?"
    grep -o 'dpmf train .*"' out | sed 's,--[ul][a-z-]* [0-9].*--epochs,...,'
}
try events.dpr --count-weight 0.3
try events.dpr --row-steps 5
try events.dpr --learning-rate 0.1
try events.dpr --decay 0.1
try events.dpr --like 4
try events.dpr --goal rating
try rated.dpr --like 4
try rated.dpr --unobserved 0.3
try rated.dpr --goal ranking --like 4
try rated.dpr --goal ranking --learning-rate 0.1
