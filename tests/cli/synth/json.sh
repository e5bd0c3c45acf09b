dpmf synth --users 100 --items 50 --ratings 1000 -o r.dpr --json -q
