dpmf synth -q --users 20 --items 10 --ratings 50 --truth t.safetensors -o r.dpr
dpmf describe t.safetensors
