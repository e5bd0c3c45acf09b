dpmf synth -q --users 300 --items 40 --ratings 6000 --catalogue-out items.csv -o r.dpr
dpmf train r.dpr --catalogue items.csv -o x.safetensors
