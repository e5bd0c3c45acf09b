dpmf synth -o r.dpr --users many
