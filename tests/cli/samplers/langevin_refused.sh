dpmf synth -q --users 120 --items 30 --ratings 1500 --seed 3 -o all.dpr
try() {
    dpmf train -q all.dpr -o m.safetensors "$@"
    echo "$?"
}
for solver in sgld sghmc sgnht; do
    try --solver $solver --hogwild
    try --solver $solver --snapshot s.safetensors
    try --solver $solver --resume s.safetensors
    try --solver $solver --learning-rate 0.1
    try --solver $solver --step 0
    try --solver $solver --step -1
    try --solver $solver --step 1e-300
    try --solver $solver --step 1000 -k 2 --epochs 5
    try --solver $solver --samples 10
    try --solver $solver --epochs 5 --burn-in 5
done
try --solver sghmc --noise table
try --solver sgld --noise table:0
try --solver sgld --noise table:12
try --solver sgld --noise table:99999999999999999999
try --solver sgld --noise ''
try --solver sgld --noise table:many
try --solver sgld --noise loud
try --solver sgld --chains 0
try --solver sgld --average --samples 0
try --noise table
ls
