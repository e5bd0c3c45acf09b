dpmf synth -q --users 120 --items 30 --ratings 1500 --seed 3 -o all.dpr
try() {
    dpmf train -q all.dpr -o m.safetensors "$@"
    echo "$?"
}
try --solver gibbs --hogwild
try --solver gibbs --snapshot s.safetensors
try --solver gibbs --resume s.safetensors
try --solver gibbs --tiers 10,20
try --solver gibbs --step 0.1
try --solver gibbs --learning-rate 0.1
try --solver gibbs --reg 0.1
try --solver gibbs --valid all.dpr --patience 3
try --solver gibbs --noise table
try --solver gibbs --samples 10
try --solver gibbs --average --samples 500
try --solver gibbs --average -k 3000
try --solver gibbs --epochs 5 --burn-in 5
try --solver gibbs --memory 1MiB -j 2
try --solver gibs
try --average
dpmf train -q all.dpr --solver gibbs -k 4 --epochs 2 -o g.safetensors
try -k 4 --resume g.safetensors
ls
