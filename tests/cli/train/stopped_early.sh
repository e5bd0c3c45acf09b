# A run that stopped early says which epoch was the best and which was the last.
printf 'user,item,rating\n' >r.csv
for i in {1..40}; do printf 'u%d,i%d,%d\n' $((i % 7)) $((i % 11)) $((1 + i * 3 % 5)); done >>r.csv
for i in {1..40}; do printf 'u%d,i%d,%d\n' $((i % 7)) $((i % 11)) $((5 - i * 3 % 5)); done >v.csv
dpmf train -q r.csv -k 8 --kernels ref --deterministic --learning-rate 0.1 --valid v.csv \
    --patience 2 -o m.safetensors
dpmf describe m.safetensors | grep 'trained\|validated'
dpmf describe --json m.safetensors |
    grep -o '"epochs":[0-9]*,"epochs_asked":[0-9]*\|"best_epoch":[0-9]*'
