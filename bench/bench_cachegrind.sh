#!/usr/bin/env bash
# Cache misses of training, counted by cachegrind with this machine's first-level and last-level
# caches, or the nearest that it can simulate. What an epoch costs is the difference between a run
# of two epochs and a run of one: reading, tiling, the model's first rows and its writing cancel.
# One thread, since cachegrind knows one first-level cache. It counts demand misses alone:
# prefetches are not simulated, so these are lines moved, not time waited.
#
# Sets have Netflix's density and a quarter of its items; users as many as make the model exceed the
# last-level cache while the run ends in minutes (fused multiply-adds are slow under valgrind).
#
#     bench/bench_cachegrind.sh build/dpmf
#
# BENCH_SETS       16:560000,256:40000,2048:8000    k:users
# BENCH_ITEMS      4442
# BENCH_DIR        keeps the files
set -euo pipefail
dpmf=$(realpath "$1")
here=$(realpath "$(dirname "$0")")
"$here/../scripts/install_packages.sh" bench
sets=${BENCH_SETS:-16:560000,256:40000,2048:8000}
items=${BENCH_ITEMS:-4442}
directory=${BENCH_DIR:-}
if ! command -v valgrind >/dev/null; then
    echo "skipped: there is no valgrind here"
    exit 0
fi
if [[ -z $directory ]]; then
    directory=$(mktemp -d)
    trap 'rm -rf "$directory"' EXIT
fi
mkdir -p "$directory"
cd "$directory"

# ---- the caches, as cachegrind's options; what had to be rounded goes to standard error ----------

mapfile -t geometry < <("$here/paper/cachegrind_caches.py" "$dpmf")
((${#geometry[@]} > 0)) || exit 1

# ---- one run: all of cachegrind's counts, in its order: Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw ---

counts() {
    local k=$1 epochs=$2
    valgrind --tool=cachegrind --cache-sim=yes "${geometry[@]}" \
        --cachegrind-out-file="counts.$k.$epochs" \
        "$dpmf" train "set.$k.dpr" -k "$k" --epochs "$epochs" --no-adapt -j 1 \
        -o "model.$k.$epochs" --quiet \
        >"log.$k.$epochs" 2>&1
    rm -f "model.$k.$epochs"
    sed -n 's/^summary: //p' "counts.$k.$epochs"
}

# The paper's rates per reference in its table of cache misses, for comparison: first level, last
# level.
paper_rates() {
    case $1 in
    16) echo "2.84 0.43" ;;
    256) echo "2.85 0.50" ;;
    2048) echo "3.3 1.7" ;;
    *) echo "- -" ;;
    esac
}

"$dpmf" --version
printf 'valgrind --tool=cachegrind --cache-sim=yes %s dpmf train SET %s\n' \
    "${geometry[*]}" '-k K --epochs 1 and 2 --no-adapt -j 1 -o MODEL'
printf '%5s %10s %8s %9s | %27s | %22s | %18s\n' '' '' '' '' 'per update' 'per reference, %' \
    "the paper's, %"
printf '%5s %10s %8s %9s | %9s %8s %8s | %10s %11s | %8s %9s\n' \
    k ratings users 'model MiB' references 'D1 miss' 'LL miss' D1 LL D1 LL
for entry in ${sets//,/ }; do
    k=${entry%%:*}
    users=${entry#*:}
    # Netflix's: 99,072,112 ratings of 480,189 users and 17,770 items
    ratings=$(awk -v u="$users" -v i="$items" \
        'BEGIN { printf "%d", u * i * 99072112 / 480189 / 17770 }')
    if [[ ! -s set.$k.dpr ]]; then
        "$dpmf" synth --like netflix --users "$users" --items "$items" --ratings "$ratings" \
            -o "set.$k.dpr" --quiet
    fi
    one=$(counts "$k" 1)
    two=$(counts "$k" 2)
    awk -v k="$k" -v n="$ratings" -v users="$users" -v items="$items" -v one="$one" -v two="$two" \
        -v paper="$(paper_rates "$k")" 'BEGIN {
        split(one, a, " "); split(two, b, " "); split(paper, p, " ")
        for (i = 1; i <= 9; i++) d[i] = (b[i] - a[i]) / n
        refs = d[4] + d[7]; first = d[5] + d[8]; last = d[6] + d[9]
        printf "%5d %10d %8d %9.0f | %10.1f %8.2f %8.3f | %10.2f %11.3f | %8s %9s\n", k, n, users,
            (users + items) * k * 4 / 1048576, refs, first, last,
            100 * first / refs, 100 * last / refs,
            p[1], p[2]
    }'
done
