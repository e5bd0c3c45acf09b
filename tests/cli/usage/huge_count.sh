dpmf synth -o r.dpr --users 99999999999999999999
