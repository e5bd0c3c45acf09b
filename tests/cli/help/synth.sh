dpmf help synth
diff <(dpmf help synth) <(dpmf synth --help)
