# The same bytes for the same seed and any number of threads; others for another seed.
synth() { dpmf synth -q --users 500 --items 100 --ratings 9000 "$@"; }
synth --seed 7 -j 1 -o a.dpr
synth --seed 7 -j 3 -o b.dpr
synth --seed 8 -o c.dpr
cmp a.dpr b.dpr && ! cmp -s a.dpr c.dpr && echo as promised
