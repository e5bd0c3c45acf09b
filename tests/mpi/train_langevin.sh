# shellcheck shell=bash disable=SC2154 # run.sh sets binary and here
# Langevin samplers by several processes: chains of their own, of one distribution. A part of
# run.sh. That it is the right one, noise that is owed being paid once, tests/unit/test_langevin.c
# shows number by number.
#
# Everybody rates as much as everybody else, so that chains get far in few epochs. A sample's error
# on the ratings it was trained on tells its temperature: when each of two processes paid the noise
# of all, it was 2.6 per cent larger, and the error on other ratings 1.1. From seed to seed, its
# mean over samples changes by 0.01 per cent, and the error on other ratings by 0.05.

awk 'function draw() { return (seed = (seed * 16807) % 2147483647) / 2147483647 }
function bell() { return draw() + draw() + draw() + draw() - 2 }
BEGIN {
    seed = 5
    for (j = 0; j < 400; j++) { a[j] = 2 * bell(); b[j] = 2 * bell(); c[j] = bell() }
    for (i = 0; i < 600; i++) {
        x = 2 * bell(); y = 2 * bell(); z = bell(); start = int(400 * draw())
        for (m = 0; m < 200; m++) {
            j = (start + 2 * m + int(2 * draw())) % 400
            printf "u%d,i%d,%.3f\n", i, j, 3 + c[j] + z + x * a[j] + y * b[j] + 2 * bell()
        }
    }
}' >flat.csv
"$binary" import -q flat.csv -o flat.dpr
"$binary" split -q flat.dpr --train lt.dpr --test lv.dpr
check "ratings to sample from" "$binary" shard -q lt.dpr --parts 4 -o lt.shards
number() { sed -nE "s/.*\"$2\":([0-9.e+-]+).*/\1/p" "$1" | tail -n 1; }
error_of() { "$binary" evaluate "$1" lv.dpr --json -q | sed -nE 's/.*"rmse":([0-9.e+-]+).*/\1/p'; }
# The mean over samples of a sample's error.
heat() { sed -nE 's/.*"train_rmse":([0-9.e+-]+),.*"burn_in":false.*/\1/p' "$1" |
    awk '{ sum += $1 } END { print NR ? sum / NR : 0 }'; }
# within A B PERCENT
within() { awk -v a="$1" -v b="$2" -v p="$3" \
    'BEGIN { exit !(a > 0 && b > 0 && a / b < 1 + p / 100 && b / a < 1 + p / 100) }'; }

langevin_ranks="2 3"
[[ -n ${DPMF_TEST_LONG:-} ]] && langevin_ranks="1 2 3 4"
chains=2
while read -r solver epochs burn_in; do
    [[ -n ${DPMF_TEST_LONG:-} ]] && epochs=$((2 * epochs))
    # all, so that the model that is written is the one that is told of
    samples=$((chains * (epochs - burn_in)))
    sampling=(--solver "$solver" -k 2 --epochs "$epochs" --burn-in "$burn_in" --chains "$chains" \
        --average --samples "$samples" -j 1 -q --json)
    "$binary" train lt.dpr "${sampling[@]}" -o l1.safetensors >alone.json
    one=$(error_of l1.safetensors)
    for n in $langevin_ranks; do
        rm -f l.safetensors
        job "$n" train lt.shards --valid lv.dpr "${sampling[@]}" -o l.safetensors
        check "$solver, $n processes: status" test $? = 0
        many=$(error_of l.safetensors)
        check "$solver, $n processes: $many, one process $one" within "$many" "$one" 0.3
        check "$solver, $n processes: samples $(heat log), one process $(heat alone.json)" within \
            "$(heat log)" "$(heat alone.json)" 0.1
        check "$solver, $n processes: one tells" test "$(grep -c '"event":"epoch"' log)" = \
            "$((chains * epochs))"
        check "$solver, $n processes: all samples" test "$(number log samples)" = "$samples"
        check "$solver, $n processes: what was told" within "$(number log valid_rmse)" "$many" \
            0.0001
        ((n > 1)) || continue
        expected=$(python3 "$here/../../bench/scaling_model.py" bytes --ranks "$n" --items 400 \
            --factors 2 --solver "$solver")
        sent=$(number log bytes_sent)
        check "$solver, $n processes: $sent bytes sent, $((chains * epochs)) times $expected" \
            within "$sent" "$((chains * epochs * expected))" 10
    done
    "$binary" predict l.safetensors lv.dpr --intervals -q >log 2>&1
    check "$solver, a mean by $n processes: it has intervals" test $? = 0
done <<'TRIALS'
sgld 180 100
sghmc 200 130
sgnht 190 110
TRIALS

rm -f x.safetensors
job 2 train lt.shards --solver sgld --snapshot x.snapshot -o x.safetensors
check "sgld, a snapshot: status" test $? = 2
check "sgld, a snapshot: one error" one_error "sgld can neither write nor resume"
check "sgld, a snapshot: no model" test ! -e x.safetensors
