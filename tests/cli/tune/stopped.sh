# A trial that was stopped early has its error in brackets, and says after how many epochs; the best
# never is such a one.
dpmf synth -q --users 300 --items 80 --ratings 4000 -o ratings.dpr
dpmf tune -q ratings.dpr --kernels ref --trials 12 -j 1 >table
awk '$1 ~ /^[0-9]+$/ {
    in_brackets = $6 ~ /^\(.*\)$/
    stopped = /stopped after [0-9]+/
    if (in_brackets != stopped && !/diverged/) print "odd: " $0
    if (in_brackets && /best so far/) print "the best was stopped: " $0
    n += stopped
} END { print (n > 0 ? "some were stopped" : "none was stopped") }' table
