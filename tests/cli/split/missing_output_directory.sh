dpmf synth -q --users 300 --items 80 --ratings 6000 --timestamps -o r.dpr

dpmf split r.dpr --train a.dpr --test nowhere/b.dpr
status=$?
ls -A
exit $status
