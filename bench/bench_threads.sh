#!/usr/bin/env bash
# What the second thread gains, and what --deterministic costs: training with one thread, with two
# in free order and with two in the deterministic order, in strict turns on one set of Netflix's
# shape and density. Only the epochs count; the speed of a run is that of its median epoch.
#
#     bench/bench_threads.sh build/dpmf
#
# BENCH_FACTORS    64,128,256,512,1024,2048
# BENCH_USERS      40000, which is about 8.2 million ratings
# BENCH_ROUNDS     5, of each way in turn
# BENCH_DIR        keeps the files
set -euo pipefail
here=$(realpath "$(dirname "$0")")
dpmf=$(realpath "$1")
factors=${BENCH_FACTORS:-64,128,256,512,1024,2048}
users=${BENCH_USERS:-40000}
rounds=${BENCH_ROUNDS:-5}
directory=${BENCH_DIR:-}
if [[ -z $directory ]]; then
    directory=$(mktemp -d)
    trap 'rm -rf "$directory"' EXIT
fi
mkdir -p "$directory"
cd "$directory"

ratings=$((users * 99072112 / 480189)) # as many for a user as in Netflix's set
if [[ ! -s set.dpr ]]; then
    "$dpmf" synth --like netflix --users "$users" --ratings "$ratings" -o set.dpr --quiet
fi

# ---- one run: prints the median epoch's updates/s ------------------------------------------------

# Fewer as they take longer.
epochs_for() { echo $(($1 <= 64 ? 12 : $1 <= 256 ? 8 : 5)); }

median() {
    LC_ALL=C sort -g |
        awk '{ v[NR] = $1 } END { if (NR) print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'
}

speed() {
    local k=$1
    shift
    "$dpmf" train set.dpr -k "$k" --epochs "$(epochs_for "$k")" --no-adapt -o model.safetensors \
        --json --quiet "$@" |
        sed -nE '/"event":"epoch"/s/.*"updates_per_second":([0-9.e+]+).*/\1/p' | median
    rm -f model.safetensors
}

one_thread_speed() { speed "$1" -j 1; }
two_threads_speed() { speed "$1" -j 2; }
deterministic_speed() { speed "$1" -j 2 --deterministic; }

# ---- in turns, and the ratios --------------------------------------------------------------------

printf '%s ratings of %s users, %s cores, %s rounds, million updates/s\n' \
    "$ratings" "$users" "$(nproc)" "$rounds"
printf 'processor: %s\n' "$(sed -nE 's/^model name[[:space:]]*: //p' /proc/cpuinfo | head -n 1)"
"$dpmf" --version
ways=(one_thread two_threads deterministic)
: >speeds
for k in ${factors//,/ }; do
    for ((round = 0; round < rounds; round++)); do
        for ((turn = 0; turn < 3; turn++)); do
            way=${ways[(round + turn) % 3]}
            echo "$k $round $way $("${way}_speed" "$k")" >>speeds
        done
    done
done
python3 "$here/ratios.py" speeds two_threads/one_thread deterministic/two_threads
