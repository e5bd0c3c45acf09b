umask 277
dpmf synth -q --users 30 --items 20 --ratings 100 -o s.dpr
stat -c %a s.dpr
