#!/usr/bin/env bash
# The mean of block Gibbs' samples on MovieLens 1M, with the default options: five hold-outs of 10 %
# (dpmf split, seeds 1 to 5). Prints, for each, the time of learning, the error on the held-out
# ratings, and how many of these are within the intervals of dpmf predict --intervals, at 50 and at
# 90 %.
#
#     bench/bench_gibbs.sh build/dpmf
#
# DPMF_DATA        the folder with ml-1m/ratings.dat.zst; else ../shared/data; without it this says
#                  so and ends
# BENCH_THREADS    2
set -euo pipefail
dpmf=$(realpath "$1")
data=$(realpath -m "${DPMF_DATA:-$(dirname "$0")/../../shared/data}")
threads=${BENCH_THREADS:-2}
if [[ ! -r $data/ml-1m/ratings.dat.zst ]]; then
    echo "skipped: MovieLens 1M is not in $data"
    exit 0
fi
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"

# covered LEVEL: the share of the test ratings that are within their intervals, of those that have
# one.
covered() {
    "$dpmf" predict model.safetensors test.csv --intervals --level "$1" --quiet 2>/dev/null |
        paste -d, test.csv - | awk -F, '
            NR == 1 { for (c = 1; c <= NF; c++) at[$c] = c; next }
            $at["low"] != "" {
                n++; inside += $at["rating"] >= $at["low"] && $at["rating"] <= $at["high"] }
            END { printf "%.3f", inside / n }'
}

"$dpmf" import "$data/ml-1m/ratings.dat.zst" -o all.dpr --quiet
echo "split seconds rmse within_50 within_90"
for split in 1 2 3 4 5; do
    "$dpmf" split all.dpr --train train.dpr --test test.dpr --seed "$split" --quiet
    "$dpmf" export test.dpr --csv - --quiet >test.csv
    seconds=$("$dpmf" train train.dpr --solver gibbs --average -j "$threads" -o model.safetensors \
        --json \
        --quiet 2>/dev/null | python3 -c '
import json, sys
print("%.0f" % json.loads(sys.stdin.readlines()[-1])["seconds"])')
    rmse=$("$dpmf" evaluate model.safetensors test.dpr --json --quiet | python3 -c '
import json, sys
print("%.4f" % json.loads(sys.stdin.read())["rmse"])')
    echo "$split $seconds $rmse $(covered 0.5) $(covered 0.9)"
done
