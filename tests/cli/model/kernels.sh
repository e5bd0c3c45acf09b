# --kernels for commands that compute with a model: the list is the same with each set, and a set
# that is not there is an error, also when the environment names it.
dpmf synth --users 60 --items 40 --ratings 900 --seed 3 -o r.dpr -q
dpmf train r.dpr -k 8 --epochs 3 --seed 1 --deterministic --kernels ref -o m.safetensors -q
dpmf recommend m.safetensors --user 7 -n 5 >best.txt
dpmf recommend m.safetensors --user 7 -n 5 --kernels ref >ref.txt
cmp best.txt ref.txt && echo same
dpmf recommend m.safetensors --user 7 --kernels cray
echo $? >&2
DPMF_KERNELS=cray dpmf evaluate m.safetensors r.dpr
echo $? >&2
dpmf train r.dpr -k 8 --epochs 1 --lanes 0 -o n.safetensors
echo $? >&2
dpmf train r.dpr -k 8 --epochs 1 --lanes 9 -o n.safetensors
echo $? >&2
