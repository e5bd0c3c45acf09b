# shellcheck shell=bash disable=SC2154 # run.sh sets binary
# The ratings are made anew, so that it stands alone.
# Implicit least squares by several processes: one model, but for the rounding of sums. A part of
# run.sh.

"$binary" synth -q --users 5000 --items 200 --ratings 120000 --rank 3 --seed 6 -o i.dpr
"$binary" split -q i.dpr --train it.dpr --test iv.dpr
some=(--goal ranking -k 12 --seed 2 -j 1 --json -q)
ials=("${some[@]}" --like 3 --epochs 6)
number() { sed -nE "s/.*\"$2\":([0-9.e+-]+).*/\1/p" "$1" | tail -n 1; }
first_ndcg() { grep -oE '"ndcg":[0-9.e-]+' "$1" | head -n 1 | cut -d: -f2; } # of all items
# alike A B: to a ten-thousandth
alike() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a > 0 && a / b < 1.0001 && b / a < 1.0001) }'; }
# same_rows A B [K]: two models rank alike, and what their vectors give for every tenth user and
# each item agrees to a thousandth of the largest; a model's basis depends on how it was trained
same_rows() {
    "$binary" export -q "$1" --not-private --users --npy one &&
        "$binary" export -q "$2" --not-private --users --npy other &&
        python3 - one other "${3:-12}" <<'PYTHON'
import array, os, sys
K = int(sys.argv[3])
def rows(folder, name):
    data = open(os.path.join(folder, name), "rb").read()
    numbers = array.array("f", data[10 + int.from_bytes(data[8:10], "little"):])
    return [numbers[i:i + K] for i in range(0, len(numbers), K)]
def scores(folder):
    items = rows(folder, "item_vectors.npy")
    return [sum(a * b for a, b in zip(user, item)) for user in
            rows(folder, "user_vectors.npy")[::10] for item in items]
a, b = (scores(folder) for folder in sys.argv[1:3])
most = max(map(abs, a))
sys.exit(len(a) != len(b) or not most or max(abs(x - y) for x, y in zip(a, b)) > 1e-3 * most)
PYTHON
    local status=$?
    rm -rf one other
    "$binary" evaluate "$1" iv.dpr --history it.dpr --ranking --json -q >one.json
    "$binary" evaluate "$2" iv.dpr --history it.dpr --ranking --json -q >other.json
    [[ $status == 0 ]] && alike "$(first_ndcg one.json)" "$(first_ndcg other.json)"
}

"$binary" train it.dpr --valid iv.dpr "${ials[@]}" -o i1.safetensors >alone.json
for n in 1 2 3 5; do
    job "$n" train it.dpr --valid iv.dpr "${ials[@]}" -o i.safetensors
    check "ials, $n processes: status" test $? = 0
    check "ials, $n processes: the same error" alike "$(number log train_rmse)" \
        "$(number alone.json train_rmse)"
    check "ials, $n processes: the same ranking" alike "$(number log valid_ndcg)" \
        "$(number alone.json valid_ndcg)"
    check "ials, $n processes: the same vectors" same_rows i1.safetensors i.safetensors
done

# A snapshot of two is continued by three, and by one.
job 2 train it.dpr --valid iv.dpr "${some[@]}" --like 3 --epochs 3 --snapshot s.safetensors \
    -o i.safetensors
check "ials, a snapshot of 2: status" test $? = 0
job 3 train it.dpr --valid iv.dpr "${ials[@]}" --resume s.safetensors -o i.safetensors
check "ials, continued by 3: status" test $? = 0
check "ials, continued by 3: the same vectors" same_rows i1.safetensors i.safetensors
"$binary" train it.dpr --valid iv.dpr "${ials[@]}" --resume s.safetensors -o i.safetensors >log 2>&1
check "ials, continued by one machine: status" test $? = 0
check "ials, continued by one machine: the same vectors" same_rows i1.safetensors i.safetensors

# Exact rows, and rows in two blocks of columns.
for k in 12 20; do
    how=(--goal ranking -k "$k" --seed 2 -j 1 --json -q --like 3 --epochs 6)
    if [[ $k == 12 ]]; then how+=(--row-steps 0); else how+=(--row-block 16); fi
    rm -f e1.safetensors
    "$binary" train it.dpr --valid iv.dpr "${how[@]}" -o e1.safetensors >alone.json
    for n in 1 2 3; do
        rm -f e.safetensors
        job "$n" train it.dpr --valid iv.dpr "${how[@]}" -o e.safetensors
        check "ials, exact, k $k, $n processes: status" test $? = 0
        check "ials, exact, k $k, $n processes: the same error" alike \
            "$(number log train_rmse)" "$(number alone.json train_rmse)"
        check "ials, exact, k $k, $n processes: the same ranking" alike \
            "$(number log valid_ndcg)" "$(number alone.json valid_ndcg)"
        check "ials, exact, k $k, $n processes: the same vectors" same_rows e1.safetensors \
            e.safetensors "$k"
    done
done
job 2 train it.dpr "${some[@]}" --like 99 -o x.safetensors
check "ials, no likes: refused" one_error "none of the ratings is a like"
