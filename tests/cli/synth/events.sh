# What made-up people like, as events; nothing else is left behind
dpmf synth -q --users 100 --items 50 --ratings 1000 --events -o likes.dpr
dpmf synth -q --users 100 --items 50 --ratings 1000 -o ratings.dpr
dpmf import -q ratings.dpr --like 4 -o same.dpr
dpmf export -q likes.dpr --csv - >1
dpmf export -q same.dpr --csv - >2
cmp 1 2 && head -1 1
dpmf synth --users 100 --items 50 --ratings 1000 --events -o nowhere/likes.dpr
echo "exit $?"
ls
