# A mean of samples and a sample alone, by each of the three; the same bytes for any number of
# threads.
dpmf synth -q --users 120 --items 30 --ratings 1500 --seed 3 -o all.dpr
for solver in sgld sghmc sgnht; do
    dpmf train all.dpr --solver $solver -k 4 --average --samples 4 --chains 2 --epochs 4 \
        --deterministic -o mean.safetensors --json
    dpmf train -q all.dpr --solver $solver -k 4 --average --samples 4 --chains 2 --epochs 4 \
        --deterministic -j 5 -o again.safetensors
    cmp mean.safetensors again.safetensors
    dpmf train -q all.dpr --solver $solver -k 4 --epochs 3 --trace trace.svg -o sample.safetensors
    for model in mean sample; do
        dpmf describe "$model.safetensors" | sed -n '1p; /samples/p'
    done
    head -c 4 trace.svg
    echo
done
dpmf train -q all.dpr --solver sgld --noise table:10000 --step 0.001 --burn-in 0 -k 4 --epochs 3 \
    -o table.safetensors && echo table
