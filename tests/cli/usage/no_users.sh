dpmf synth -o r.dpr --users 0
