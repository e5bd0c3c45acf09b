#!/usr/bin/env bash
# Training larger than memory against training in memory: a store of Netflix's density, --memory a
# quarter of its bytes and everything, in turns, and the ratio of the medians. Prints the peak
# resident size beside --memory.
#
#     bench/bench_streamed.sh build/dpmf      BENCH_RATINGS, BENCH_FACTORS ("16 64"), BENCH_ROUNDS,
#                                             BENCH_THREADS
set -euo pipefail
dpmf=$(realpath "$1")
ratings=${BENCH_RATINGS:-40000000}
rounds=${BENCH_ROUNDS:-5}
threads=${BENCH_THREADS:-2}
read -ra factors <<<"${BENCH_FACTORS:-16 64}"
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"

"$dpmf" synth --like netflix --users $((ratings / 206)) --ratings "$ratings" -o set.dpr --quiet
bytes=$(stat -c %s set.dpr)
memory=$((bytes / 4))
printf '%s ratings, a store of %s bytes, --memory %s, %s threads, %s rounds of 3 epochs\n' \
    "$ratings" "$bytes" "$memory" "$threads" "$rounds"

# learn NAME K MEMORY: one run; its speed goes to NAME.speeds and its peak to NAME.peak
learn() {
    /usr/bin/time -f %M -o "$1.peak" "$dpmf" train set.dpr -k "$2" --epochs 3 --no-adapt \
        -j "$threads" \
        --memory "$3" --json --quiet -o model.safetensors | tail -n 1 >>"$1.speeds"
}

for k in "${factors[@]}"; do
    rm -f ./*.speeds
    for ((i = 0; i < rounds; i++)); do
        learn whole "$k" 8GiB
        learn streamed "$k" "$memory"
    done
    python3 - "$k" "$memory" <<'PYTHON'
import json, statistics, sys

def speeds(name):
    return [json.loads(line)["updates_per_second"] / 1e6 for line in open(name + ".speeds")]

def peak(name):
    return int(open(name + ".peak").read().split()[-1]) / 1024

whole, streamed = speeds("whole"), speeds("streamed")
ratios = sorted(s / w for s, w in zip(streamed, whole))
print(f"k = {sys.argv[1]:4}  in memory {statistics.median(whole):6.1f} M updates/s, "
      f"peak {peak('whole'):5.0f} MiB   "
      f"streamed {statistics.median(streamed):6.1f}, peak {peak('streamed'):4.1f} of "
      f"{int(sys.argv[2]) / 2**20:4.1f} MiB   "
      f"ratio {statistics.median(streamed) / statistics.median(whole):.2f} "
      f"(rounds {ratios[0]:.2f} to {ratios[-1]:.2f})")
PYTHON
done
