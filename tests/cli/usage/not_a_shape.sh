dpmf synth -o r.dpr --like netflx
