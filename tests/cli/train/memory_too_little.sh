# It says how much would do, and that does.
dpmf synth --users 300 --items 80 --ratings 6000 -o r.dpr -q
dpmf train r.dpr -k 8 --epochs 1 -j 2 -q --memory 1MiB -o m.safetensors
enough=$(dpmf train r.dpr -k 8 --epochs 1 -j 2 -q --memory 1MiB -o m.safetensors 2>&1 |
    sed -n 's/.*--memory \([0-9]*MiB\).*/\1/p')
dpmf train r.dpr -k 8 --epochs 1 -j 2 -q --memory "$enough" -o m.safetensors && echo "it does"
