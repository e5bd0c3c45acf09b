dpmf synth -q --users 50 --items 20 --ratings 500 -o r.dpr
for verb in 'train -o m.safetensors' tune; do
    # shellcheck disable=SC2086 # words they are
    dpmf $verb r.dpr --decay -1
    echo $?
done
dpmf train -q r.dpr --epochs 1 -k 4 --decay 0 -o m.safetensors && ls
