mkdir tmp
export TMPDIR=$PWD/tmp
dpmf synth -q --users 200 --items 60 --ratings 4000 -o ratings.dpr
dpmf tune -q ratings.dpr --trials 2 -k 4 >/dev/null
dpmf tune -q ratings.dpr --trials 2 -k 4 --learning-rate 1000 >/dev/null 2>&1
dpmf tune -q ratings.dpr --trials 500 | head -n 1 >/dev/null
echo "${PIPESTATUS[0]}"
ls -A tmp
ls
