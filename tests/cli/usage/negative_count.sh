dpmf synth -o r.dpr --users -5
