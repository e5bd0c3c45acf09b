# Options of the other goal, and values that are none.
dpmf synth -q --users 200 --items 60 --ratings 4000 -o ratings.dpr
try() { dpmf tune ratings.dpr "$@"; echo "status $?" >&2; }
try --like 4
try --unobserved 0.3
try --goal ranking --learning-rate 0.1
try --goal ranking --decay 1
try --goal ranking --unobserved 0
try --goal ranking --like often
try --goal ranking --like 1000 --trials 1
try --goal sorting
