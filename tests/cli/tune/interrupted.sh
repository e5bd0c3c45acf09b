# A signal ends it as the signal would, and nothing is left behind.
mkdir tmp
export TMPDIR=$PWD/tmp
dpmf synth -q --users 2000 --items 200 --ratings 100000 -o ratings.dpr
dpmf tune -q ratings.dpr --trials 10000 >trials &
pid=$!
until [[ -s trials ]]; do sleep 0.05; done
kill -TERM $pid
wait $pid
echo "status $?"
ls -A tmp
