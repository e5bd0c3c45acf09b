#!/usr/bin/env bash
# The plain default command on MovieLens 1M beside LIBMF with 15 iterations at k = 64: five
# hold-outs of 10 % (dpmf split, seeds 1 to 5), both programs in turns, from the same text file to a
# written model. Prints the error on the held-out ratings and two times: the whole command, and
# learning alone (dpmf: tiling and epochs; LIBMF: its iterations, from the lines it prints).
#
#     LIBMF=.../mf-train bench/bench_movielens.sh build/dpmf
#
# DPMF_DATA        the folder with ml-1m/ratings.dat.zst; else ../shared/data; without it this says
#                  so and ends
# LIBMF            the program, with mf-predict beside it; else mf-train from the PATH; else dpmf
#                  runs alone
# LIBMF_BUILD      how it was built, to be printed with the figures
# BENCH_THREADS    2
# BENCH_ROUNDS     3, of each program on each split
set -euo pipefail
dpmf=$(realpath "$1")
data=$(realpath -m "${DPMF_DATA:-$(dirname "$0")/../../shared/data}")
libmf=${LIBMF:-$(command -v mf-train || true)}
threads=${BENCH_THREADS:-2}
rounds=${BENCH_ROUNDS:-3}
if [[ ! -r $data/ml-1m/ratings.dat.zst ]]; then
    echo "skipped: MovieLens 1M is not in $data"
    exit 0
fi
[[ -z $libmf ]] || libmf=$(realpath "$libmf")
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"

# ---- the splits: text that both can read (user item rating), stores to evaluate with -------------

as_text() { "$dpmf" export "$1" --csv - --quiet | awk -F, 'NR > 1 { print $1, $2, $3 }'; }

"$dpmf" import "$data/ml-1m/ratings.dat.zst" -o all.dpr --quiet
for split in 1 2 3 4 5; do
    "$dpmf" split all.dpr --train "train$split.dpr" --test "test$split.dpr" --seed "$split" --quiet
    as_text "train$split.dpr" >"train$split.txt"
    as_text "test$split.dpr" >"test$split.txt"
done

# ---- one run of each: appends "split whole learning rmse" to dpmf.runs or libmf.runs -------------

since() { awk -v a="$1" -v b="$2" 'BEGIN { print b - a }'; }

run_dpmf() {
    local split=$1 begun ended learning rmse
    begun=$EPOCHREALTIME
    "$dpmf" train "train$split.txt" -o model.safetensors -j "$threads" --json --quiet >report.json
    ended=$EPOCHREALTIME
    learning=$(python3 -c '
import json
events = [json.loads(line) for line in open("report.json")]
trials = sum(event["seconds"] for event in events if event["event"] == "adapted")
print(trials + events[-1]["seconds"] + events[-1]["tiling_seconds"])')
    rmse=$("$dpmf" evaluate model.safetensors "test$split.dpr" --json --quiet |
        python3 -c 'import json, sys; print(json.load(sys.stdin)["rmse"])')
    echo "$split $(since "$begun" "$ended") $learning $rmse" >>dpmf.runs
}

# Of its 15 iterations 14 lie between the first line and the last.
run_libmf() {
    local split=$1 begun ended learning rmse
    begun=$EPOCHREALTIME
    "$libmf" -k 64 -t 15 -s "$threads" "train$split.txt" model.txt |
        while read -r iteration _; do
            if [[ $iteration =~ ^[0-9]+$ ]]; then echo "$EPOCHREALTIME"; fi
        done >lines
    ended=$EPOCHREALTIME
    learning=$(awk 'NR == 1 { a = $1 } { b = $1 } END { print (b - a) * NR / (NR - 1) }' lines)
    rmse=$("$(dirname "$libmf")/mf-predict" "test$split.txt" model.txt out.txt |
        sed -nE 's/^RMSE = //p')
    echo "$split $(since "$begun" "$ended") $learning $rmse" >>libmf.runs
}

# ---- in turns ------------------------------------------------------------------------------------

for ((round = 0; round < rounds; round++)); do
    for split in 1 2 3 4 5; do
        run_dpmf "$split"
        [[ -z $libmf ]] || run_libmf "$split"
    done
done

printf 'processor: %s, %s threads of %s cores, %s rounds of 5 splits\n' \
    "$(sed -nE 's/^model name[[:space:]]*: //p' /proc/cpuinfo | head -n 1)" "$threads" "$(nproc)" \
    "$rounds"
"$dpmf" --version
if [[ -n $libmf ]]; then
    printf 'LIBMF: commit %s, %s; -k 64 -t 15, the rest as it comes\n' \
        "$(git -C "$(dirname "$libmf")" rev-parse HEAD 2>/dev/null || echo unknown)" \
        "${LIBMF_BUILD:-build flags unknown (LIBMF_BUILD tells them)}"
fi
python3 - <<'PYTHON'
import os
from statistics import mean, median

def runs(name):
    if not os.path.exists(name):
        return []
    return [tuple(map(float, line.split())) for line in open(name)]

ours, theirs = runs("dpmf.runs"), runs("libmf.runs")
for name, found in (("dpmf", ours), ("LIBMF", theirs)):
    if not found:
        continue
    by_split = [mean(r[3] for r in found if r[0] == s) for s in (1, 2, 3, 4, 5)]
    print(f"{name:6} RMSE {mean(by_split):.4f} ({' '.join(f'{x:.4f}' for x in by_split)})  "
          f"whole {median(r[1] for r in found):.2f} s ({min(r[1] for r in found):.2f} to "
          f"{max(r[1] for r in found):.2f})  learning {median(r[2] for r in found):.2f} s "
          f"({min(r[2] for r in found):.2f} to {max(r[2] for r in found):.2f})")
if theirs:
    for what, i in (("whole", 1), ("learning", 2)):
        ratios = sorted(a[i] / b[i] for a, b in zip(ours, theirs))
        print(f"dpmf's share of LIBMF's time, {what}: median {median(ratios):.2f} "
              f"({ratios[0]:.2f} to {ratios[-1]:.2f})")
PYTHON
