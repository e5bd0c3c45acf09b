#!/usr/bin/env bash
# Real ratings: MovieLens 100K and 1M come back from import and export as the same triples; on 1M
# the plain default command is as accurate as docs/performance.md says, the mean of samples as
# docs/samplers.md says, and the order of tiles learns as well as a random one. The sets are not in
# the tree (their licence forbids it); they are looked for in $DPMF_DATA or ../shared/data, and what
# is not there is skipped, and said to be.
#
#     tests/data/run.sh build/dpmf
set -uo pipefail
dpmf=$(realpath "$1")
data=$(realpath -m "${DPMF_DATA:-$(dirname "$0")/../../../shared/data}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 70
passed=0 failed=0 skipped=0

check() {
    local name=$1
    shift
    if "$@" >log 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $name"
        head -n 20 log
    fi
}

# same FILE EXPECTED: the store's ratings are exactly the expected lines, in any order.
same() {
    "$dpmf" import "$1" -o set.dpr --quiet && "$dpmf" export set.dpr --csv out --replace --quiet &&
        tail -n +2 out/ratings.csv | LC_ALL=C sort >got &&
        LC_ALL=C sort "$2" >want && cmp got want
}

describes() {
    "$dpmf" describe set.dpr --json | python3 -c '
import json, sys
found, expected = json.loads(sys.stdin.read()), json.loads(sys.argv[1])
wrong = {k: (found.get(k), v) for k, v in expected.items() if found.get(k) != v}
sys.exit(f"{wrong}" if wrong else 0)' "$1"
}

if [[ -r $data/ml-100k/u.data ]]; then
    tr '\t' ',' <"$data/ml-100k/u.data" >expected
    check "MovieLens 100K comes back exactly" same "$data/ml-100k/u.data" expected
    check "MovieLens 100K has the counts it should" describes \
        '{"users": 943, "items": 1682, "ratings": 100000, "min": 1, "max": 5}'
    gzip -c "$data/ml-100k/u.data" >u.data.gz
    check "MovieLens 100K, gzipped" same u.data.gz expected
else
    skipped=$((skipped + 3))
    echo "skipped: MovieLens 100K is not in $data"
fi

if [[ -r $data/ml-1m/ratings.dat.zst ]]; then
    zstd -dcq "$data/ml-1m/ratings.dat.zst" | sed 's/::/,/g' >expected
    check "MovieLens 1M comes back exactly" same "$data/ml-1m/ratings.dat.zst" expected
    check "MovieLens 1M has the counts it should" describes \
        '{"users": 6040, "items": 3706, "ratings": 1000209, "min": 1, "max": 5}'
    split_adds_up() {
        "$dpmf" split set.dpr --train a.dpr --test b.dpr --seed 1 --quiet &&
            "$dpmf" import a.dpr b.dpr -o both.dpr --quiet &&
            "$dpmf" export both.dpr --csv both --replace --quiet &&
            tail -n +2 both/ratings.csv | LC_ALL=C sort | cmp - got
    }
    check "MovieLens 1M split and put together again" split_adds_up

    # The plain default command, averaged over five hold-outs of 10 %.
    defaults_do_well() {
        local seed
        for seed in 1 2 3 4 5; do
            "$dpmf" split set.dpr --train "train$seed.dpr" --test "test$seed.dpr" --seed "$seed" \
                --quiet &&
                "$dpmf" train "train$seed.dpr" -o model.safetensors --quiet &&
                "$dpmf" evaluate model.safetensors "test$seed.dpr" --json --quiet || return
        done | python3 -c '
import json, sys
rmse = [json.loads(line)["rmse"] for line in sys.stdin]
mean = sum(rmse) / 5
sys.exit(f"mean {mean:.4f} of {rmse}" if len(rmse) != 5 or mean > 0.842 else 0)'
    }
    check "MovieLens 1M, the default command: RMSE at most 0.842" defaults_do_well

    # Rows in random order: whoever rated most comes first in the store, and the part of the users
    # that trials learn from has few ratings an item. What is good for it must not cost the whole.
    adapting_is_harmless() {
        python3 -c '
import random
rows = open("expected").read().splitlines()
random.Random(1).shuffle(rows)
n = len(rows) - len(rows) // 10
open("some.csv", "w").write("\n".join(rows[:n * 9 // 10]) + "\n")
open("held.csv", "w").write("\n".join(rows[n:]) + "\n")' &&
            "$dpmf" train some.csv -o model.safetensors --quiet &&
            "$dpmf" evaluate model.safetensors held.csv --json --quiet >rmse &&
            "$dpmf" train some.csv --no-adapt -o model.safetensors --quiet &&
            "$dpmf" evaluate model.safetensors held.csv --json --quiet >>rmse &&
            python3 -c '
import json, sys
adapted, fixed = [json.loads(line)["rmse"] for line in open("rmse")]
sys.exit(f"{adapted:.4f} against {fixed:.4f}" if adapted > 1.005 * fixed else 0)'
    }
    check "MovieLens 1M in random order: adapting costs no accuracy" adapting_is_harmless

    # The mean of block Gibbs' samples: a short run on one of the hold-outs; where there is time,
    # the default one on all.
    gibbs_does_well() {
        local seed
        for seed in "$@"; do
            "$dpmf" train "train$seed.dpr" --solver gibbs --average "${gibbs[@]}" \
                -o model.safetensors --quiet &&
                "$dpmf" evaluate model.safetensors "test$seed.dpr" --json --quiet || return
        done 2>/dev/null | python3 -c '
import json, sys
rmse = [json.loads(line)["rmse"] for line in sys.stdin]
sys.exit(f"{rmse}" if len(rmse) != int(sys.argv[1]) or max(rmse) > 0.837 else 0)' $#
    }
    gibbs=(-k 16 --chains 6 --epochs 15)
    check "MovieLens 1M, six short chains of gibbs: RMSE at most 0.837" gibbs_does_well 1
    if [[ -n ${DPMF_TEST_LONG:-} ]]; then
        gibbs=()
        check "MovieLens 1M, gibbs as it is: RMSE at most 0.837 on five splits" gibbs_does_well 1 \
            2 3 4 5
    fi

    # Each with a split, a seed and a length of vectors of its own.
    convergence=$(dirname "$dpmf")/tests/unit/test_convergence
    for run in 1:16 2:64 3:128 4:64 5:128; do
        if [[ ! -x $convergence ]]; then
            skipped=$((skipped + 1))
            echo "skipped: $convergence is not built"
            continue
        fi
        seed=${run%%:*} k=${run#*:}
        check "MovieLens 1M, split $seed, $k factors: as good as random order" \
            "$convergence" "train$seed.dpr" "test$seed.dpr" "$k" "$seed"
    done
else
    skipped=$((skipped + 11))
    echo "skipped: MovieLens 1M is not in $data"
fi

text="$passed passed, $failed failed"
((skipped)) && text+=", $skipped skipped"
echo "$text"
((failed == 0))
