# --kernels for private runs: the numbers do not depend on it, and a set that is not there is an
# error before anything is read or a ledger begun.
dpmf synth -q --users 300 --items 40 --ratings 6000 --catalogue-out items.csv -o r.dpr
dpmf split -q r.dpr --train before.dpr --test after.dpr
declared=(r.dpr --epsilon 5 --rating-range 1:5 --catalogue items.csv)
for kernels in "" ref; do
    dpmf train -q "${declared[@]}" --insecure-noise-seed 7 \
        ${kernels:+--kernels $kernels} --replace -o x.safetensors
    dpmf evaluate x.safetensors after.dpr --history before.dpr --json --kernels ref
done 2>/dev/null | uniq | wc -l
dpmf train -q "${declared[@]}" --kernels cray -o y.safetensors
echo $? >&2
dpmf audit "${declared[@]}" --kernels cray
echo $? >&2
ls -d "$HOME"/.local/state/dpmf/* 2>/dev/null || echo no ledger
