#!/usr/bin/env bash
# `make bench`: builds the benchmarks and runs them one after the other, each alone on the machine.
# bench/bench_*.c are programs, bench/bench_*.sh are scripts that are given the path of dpmf;
# BENCH=name runs one of them. What they print is what docs/performance.md quotes.
set -euo pipefail
cd "$(dirname "$0")/.."

cmake --preset release -DDPMF_BENCH=ON >/dev/null
cmake --build --preset release -j "${JOBS:-$(nproc)}" --target all benches >/dev/null

ran=""
for bench in build/bench/bench_* bench/bench_*.sh; do
    name=$(basename "$bench" .sh)
    [[ -x $bench && ( -z ${BENCH:-} || $name == "$BENCH" || $name == "bench_${BENCH:-}" ) ]] ||
        continue
    printf '== %s\n' "$name"
    "$bench" build/dpmf
    ran=yes
done
if [[ -z $ran ]]; then
    echo "no benchmark of the name ${BENCH:-bench_*}" >&2
    exit 1
fi
