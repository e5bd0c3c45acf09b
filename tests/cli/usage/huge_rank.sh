dpmf synth -o r.dpr --rank 4294967296
