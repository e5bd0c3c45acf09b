# The best epoch was chosen by --valid: without it, it is forgotten, and the model does not claim
# it.
dpmf synth --users 300 --items 80 --ratings 6000 -o all.dpr -q
dpmf split -q all.dpr --train r.dpr --test t.dpr
learn=(dpmf train r.dpr -k 4 --epochs 4 --kernels ref --deterministic)
"${learn[@]}" -q --valid t.dpr --snapshot s.safetensors -o m.safetensors
dpmf describe m.safetensors | grep -c validated
"${learn[@]}" --resume s.safetensors -o n.safetensors 2>&1 | grep -v '^epoch\|^[0-9]* epochs in'
dpmf describe n.safetensors | grep -c validated
# As if it had never been.
"${learn[@]}" -q -o whole.safetensors
cmp n.safetensors whole.safetensors
