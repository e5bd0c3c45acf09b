# --deterministic promises the bits of a run without a break: what would change them is refused.
dpmf synth --users 300 --items 80 --ratings 6000 -o r.dpr -q
learn=(dpmf train -q r.dpr -k 4 --deterministic)
"${learn[@]}" --kernels ref --epochs 4 --snapshot s.safetensors -o m.safetensors
"${learn[@]}" --kernels ref --epochs 6 --resume s.safetensors -o n.safetensors
echo $?
"${learn[@]}" --kernels ref --lanes 2 --epochs 4 --resume s.safetensors -o n.safetensors
echo $?
# Another number of epochs is the same run as far as it goes, when the step size does not depend on
# it.
"${learn[@]}" --kernels ref --decay 0.5 --epochs 4 --snapshot s.safetensors -o m.safetensors
"${learn[@]}" --kernels ref --decay 0.5 --epochs 6 --resume s.safetensors -o n.safetensors &&
    "${learn[@]}" --kernels ref --decay 0.5 --epochs 6 -o whole.safetensors &&
    cmp n.safetensors whole.safetensors
