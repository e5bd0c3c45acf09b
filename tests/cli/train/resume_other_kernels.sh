# Kernels round differently, so that the bits would be others.
kernels=$(dpmf doctor | grep -v 'not on this machine' | grep -o 'avx2\|neon' | head -n 1)
if [[ -z $kernels ]]; then
    echo "this machine has no kernels but ref"
    exit 77
fi
dpmf synth --users 300 --items 80 --ratings 6000 -o r.dpr -q
learn=(dpmf train -q r.dpr -k 4 --epochs 3)
"${learn[@]}" --deterministic --kernels ref --snapshot s.safetensors -o m.safetensors
"${learn[@]}" --deterministic --kernels "$kernels" --resume s.safetensors -o n.safetensors 2>&1 |
    sed "s/$kernels/OTHERS/"
ls
"${learn[@]}" --kernels "$kernels" --resume s.safetensors -o n.safetensors
