# What a model says of itself names the kernels, and whether it was asked to be deterministic: then
# its bits are those of these kernels, whichever solver made it.
dpmf synth -q --users 60 --items 40 --ratings 900 --seed 3 -o r.dpr
show() {
    dpmf describe "$1" --json | grep -o 'kernels.*' | grep -oE '(kernels|deterministic)[^,}]*' |
        tr -d '\\"' | paste -sd ' '
}
for solver in sgd ials gibbs sgld; do
    for how in '' --deterministic; do
        dpmf train -q r.dpr -k 2 --epochs 2 --solver $solver --kernels ref $how -o m.safetensors
        echo "$solver$how: $(show m.safetensors)"
    done
done
dpmf train -q r.dpr -k 2 --epochs 2 -o old.safetensors
for how in '' --deterministic; do
    dpmf train -q r.dpr --continue old.safetensors --kernels ref $how -o n.safetensors
    echo "continued$how: $(show n.safetensors)"
done
