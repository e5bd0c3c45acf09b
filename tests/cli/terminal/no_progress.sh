# No progress line when standard error is no terminal.
dpmf synth --users 3000 --items 300 --ratings 100000 -o r.dpr 2>&1 | tr -cd '\r' | wc -c
