dpmf synth -o r.dpr --noise nan
