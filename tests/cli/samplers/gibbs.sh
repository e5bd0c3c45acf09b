# A mean of samples, and a sample alone: what is said, and what the files are.
dpmf synth -q --users 120 --items 30 --ratings 1500 --seed 3 -o all.dpr
dpmf train all.dpr --solver gibbs -k 4 --average --chains 2 --epochs 4 -o mean.safetensors --json
dpmf train -q all.dpr --solver gibbs -k 4 --epochs 3 -o sample.safetensors
for model in mean sample; do
    dpmf describe "$model.safetensors" | sed -n '1p; /samples/p'
done
dpmf train -q all.dpr --solver gibbs -k 4 --average --chains 2 --epochs 4 -j 5 -o again.safetensors
cmp mean.safetensors again.safetensors
dpmf train -q all.dpr --solver gibbs -k 4 --epochs 3 --trace trace.svg -o m.safetensors
head -c 4 trace.svg
echo
