#!/usr/bin/env bash
# `make fuzz`: every fuzzer for FUZZ_SECONDS (600), or those named as arguments, at the lowest
# priority, FUZZ_ROUNDS (1) times in turn, one at a time; their processor time is added to
# docs/testing/fuzzing.csv, a row a fuzzer, commit and day. For hours beside other work:
#
#     FUZZ_SECONDS=60 FUZZ_ROUNDS=100 scripts/run_fuzzers.sh [store csv ...]
#
# FUZZ_LEDGER is another file to count in, FUZZ_BEFORE a command to run each of them by, such as one
# that waits for its turn; with FUZZ_BUILD=0 the fuzzers are taken as they are. FUZZ_TIMEOUT (60) is
# the longest that an input may take, more where the fuzzers are stopped for a while. With
# FUZZ_KEEP=1 what reaches something new is merged into tests/fuzz/corpus.
#
# A fuzzer that finds something stops this script with its input in build/test-logs.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${FUZZ_SECONDS:-600}
cores=${JOBS:-$(nproc)}
logs=build/test-logs
ledger=${FUZZ_LEDGER:-docs/testing/fuzzing.csv}
commit=$(git rev-parse --short HEAD)
mkdir -p "$logs" docs/testing
export ASAN_OPTIONS=detect_leaks=1:exitcode=99:allocator_may_return_null=1

if [[ ${FUZZ_BUILD:-1} != 0 ]]; then
    cmake --preset fuzz >"$logs/build-fuzz.log" 2>&1
    cmake --build --preset fuzz -j "$cores" --target tests >>"$logs/build-fuzz.log" 2>&1
fi
read -ra before <<<"${FUZZ_BEFORE:-}"
[[ -s $ledger ]] || echo "date,commit,fuzzer,cpu_seconds,runs,found" >"$ledger"

TIMEFORMAT='%U %S' # processor seconds

run() {
    local name=$1 found=build/fuzz-corpus/fuzz_$1 log=$logs/fuzz-$1.log status=0 seconds_used \
        runs kept=tests/fuzz/corpus/$1
    mkdir -p "$found" "$kept"
    {
        time "${before[@]}" nice -n 19 "build/fuzz/tests/fuzz/fuzz_$name" \
            -max_total_time="$seconds" -timeout="${FUZZ_TIMEOUT:-60}" -rss_limit_mb=2048 \
            -print_final_stats=1 -artifact_prefix="$logs/fuzz-$name-" "$found" \
            "$kept" >"$log" 2>&1 || status=$?
    } 2>"$log.time"
    seconds_used=$(awk '{ print int($1 + $2) }' "$log.time")
    runs=$(awk '/stat::number_of_executed_units/ { print $2 }' "$log")
    echo "$(date -u +%F),$commit,$name,$seconds_used,${runs:-0},$((status != 0))" >>"$ledger"
    if ((status != 0)); then
        tail -n 30 "$log"
        echo "fuzz_$name found something: $log"
        return 1
    fi
    # Of what was found, the few inputs that together reach most are kept.
    [[ -z ${FUZZ_KEEP:-} ]] ||
        "build/fuzz/tests/fuzz/fuzz_$name" -set_cover_merge=1 -max_len=4096 "$kept" \
        "$found" >"$log.merge" 2>&1
}

names=("$@")
if ((${#names[@]} == 0)); then
    for source in tests/fuzz/fuzz_*.c; do
        name=${source##*/fuzz_}
        names+=("${name%.c}")
    done
fi
for ((round = 0; round < ${FUZZ_ROUNDS:-1}; round++)); do
    for name in "${names[@]}"; do run "$name"; done
done
/usr/bin/python3 scripts/testing_page.py fuzzing
