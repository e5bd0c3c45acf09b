dpmf synth -o a.dpr --truth ./a.dpr
