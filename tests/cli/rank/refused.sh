dpmf synth -q --users 60 --items 30 --ratings 700 --seed 3 -o all.dpr
try() {
    dpmf train -q all.dpr -o m.safetensors "$@"
    echo "$?"
}
try --goal ranking --solver sgd
try --goal rating --solver ials
try --like 4
try --goal ranking --like much
try --goal ranking --like 9
try --goal ranking --learning-rate 0.1
try --goal ranking --average
try --goal ranking --reg 0
try --goal ranking --unobserved -1
try --goal ranking --memory 1MiB -j 2
try --goal neither
dpmf train -q all.dpr --goal ranking -k 4 --epochs 1 -o m.safetensors
printf '1,2\n' >pairs.csv
dpmf predict m.safetensors pairs.csv
dpmf evaluate m.safetensors all.dpr --like many
try --row-block 16
try --goal ranking --row-steps 2 --row-block 16
try --goal ranking --row-block 5000
try --goal ranking -k 20 --epochs 1 --row-block 16
try --goal ranking --count-weight 0.5
try --count-weight 0.5
