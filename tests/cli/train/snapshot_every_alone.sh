dpmf synth -q --users 50 --items 20 --ratings 500 -o r.dpr
dpmf train r.dpr --snapshot-every 2 -o m.safetensors
