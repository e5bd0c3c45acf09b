dpmf synth -o r.dpr --scale 5
