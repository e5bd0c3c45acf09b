# The default step sizes fall to nothing over --epochs: with another number of them it is another
# run, and that is said. Those of --decay do not know how many there will be. Epochs cannot be taken
# back.
dpmf synth --users 300 --items 80 --ratings 6000 -o r.dpr -q
learn=(dpmf train r.dpr -k 4 --kernels ref)
warnings() { grep -v '^epoch\|^[0-9]* epochs in'; }
"${learn[@]}" -q --epochs 4 --snapshot s.safetensors -o m.safetensors
echo "the same"
"${learn[@]}" --epochs 4 --resume s.safetensors -o n.safetensors 2>&1 | warnings
echo "more"
"${learn[@]}" --epochs 6 --resume s.safetensors -o n.safetensors 2>&1 | warnings
dpmf describe n.safetensors | grep trained
echo "less"
"${learn[@]}" --epochs 3 --resume s.safetensors -o n.safetensors
echo $?
echo "more, with a step size that does not depend on it"
"${learn[@]}" -q --decay 0.5 --epochs 4 --snapshot s.safetensors -o m.safetensors
"${learn[@]}" --decay 0.5 --epochs 6 --resume s.safetensors -o n.safetensors 2>&1 | warnings
exit 0
