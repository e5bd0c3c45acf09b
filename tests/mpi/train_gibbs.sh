# shellcheck shell=bash disable=SC2154 # run.sh sets binary
# train_sgd.sh's ratings are made anew, so that each stands alone.
# Gibbs and evaluation by several processes: one chain, whatever their number. A part of run.sh.

"$binary" synth -q --users 5000 --items 200 --ratings 120000 --rank 3 --seed 6 -o g.dpr
"$binary" split -q g.dpr --train gt.dpr --test gv.dpr
gibbs=(--solver gibbs -k 5 --epochs 6 --seed 2 -j 1 --json -q)
number() { sed -nE "s/.*\"$2\":([0-9.e+-]+).*/\1/p" "$1" | tail -n 1; }
# alike A B: but for the rounding of sums
alike() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a > 0 && a / b < 1.0001 && b / a < 1.0001) }'; }

"$binary" train gt.dpr --valid gv.dpr "${gibbs[@]}" -o g1.safetensors >alone.json
"$binary" evaluate g1.safetensors gv.dpr --ranking --json -q >page.json
for n in 2 3 5; do
    job "$n" train gt.dpr --valid gv.dpr "${gibbs[@]}" -o g.safetensors
    check "gibbs, $n processes: status" test $? = 0
    check "gibbs, $n processes: the same chain" alike "$(number log train_rmse)" \
        "$(number alone.json train_rmse)"
    check "gibbs, $n processes: the same model" alike "$(number log valid_rmse)" \
        "$(number alone.json valid_rmse)"
    job "$n" evaluate g1.safetensors gv.dpr --ranking --json -q
    check "evaluate, $n processes: status" test $? = 0
    check "evaluate, $n processes: the same error" alike "$(number log rmse)" \
        "$(number page.json rmse)"
    check "evaluate, $n processes: the same ranking" alike "$(number log ndcg)" \
        "$(number page.json ndcg)"
done
job 3 train gt.dpr "${gibbs[@]}" --average --chains 2 -o g.safetensors
check "gibbs, a mean by 3 processes: status" test $? = 0
"$binary" predict g.safetensors gv.dpr --intervals -q >log 2>&1
check "gibbs, a mean by 3 processes: it has intervals" test $? = 0
