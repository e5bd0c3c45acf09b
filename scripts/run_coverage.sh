#!/usr/bin/env bash
# `make coverage`: builds with counters, runs the tests that reach code, and writes
# build/coverage/html, docs/testing/coverage.json and the table of docs/testing.md.
#
# Assertions are off in this build: what they exclude is no branch. Kernels of instruction sets that
# this machine lacks are not reached, and code that only a browser or several processes run is not
# tried here; a database server is, where PostgreSQL is installed. The fuzzers' corpus is replayed.
set -euo pipefail
cd "$(dirname "$0")/.."
build=build/coverage
cores=${JOBS:-$(nproc)}
logs=build/test-logs
mkdir -p "$logs" docs/testing
export LC_ALL=C.UTF-8

cmake --preset coverage >"$logs/coverage-build.log" 2>&1
cmake --build --preset coverage -j "$cores" --target all tests >>"$logs/coverage-build.log" 2>&1
find "$build" -name '*.gcda' -delete

# `make test` is the one that judges: here tests may also fail for the counters, which write files
# of their own and have to be linked (docs/testing.md).
try() {
    local name=$1
    shift
    timeout 900 "$@" >"$logs/coverage-$name.log" 2>&1 </dev/null ||
        echo "coverage: $name failed: $logs/coverage-$name.log" >&2
}
for test in "$build"/tests/unit/test_*; do
    [[ -f tests/unit/$(basename "$test").c ]] && try "$(basename "$test")" "$test"
done
try test_allocation "$build/tests/failure/test_allocation"
for folder in cli data database faults home ledger ranking scales upgrade serve; do
    [[ -x tests/$folder/run.sh ]] && try "$folder" "tests/$folder/run.sh" "$build/dpmf"
done
try exports tests/database/exports.sh "$build/dpmf"

# replay FUZZER: every input of its corpus, without libFuzzer, which this compiler lacks
replay() {
    local program=$build/replay_$1
    local -a objects
    mapfile -t objects < <(find "$build/CMakeFiles/dpmf_program_objects.dir" -name '*.o')
    "${CC:-cc}" -O1 -Ilib -Iinclude -Iprograms "tests/fuzz/fuzz_$1.c" tests/fuzz/replay/replay.c \
        "${objects[@]}" "$build/libdpmf.a" -lz -lzstd -lm -ldl -pthread --coverage \
        -o "$program" &&
        find "tests/fuzz/corpus/$1" -type f -print0 | xargs -0 "$program"
}
for source in tests/fuzz/fuzz_*.c; do
    name=${source##*/fuzz_}
    name=${name%.c}
    [[ -d tests/fuzz/corpus/$name ]] && try "replay-$name" bash -c \
        "$(declare -f replay); build=$build; replay $name"
done

mkdir -p "$build/html"
gcovr --root . --object-directory "$build" --filter 'lib/' --filter 'programs/' \
    --exclude-unreachable-branches --gcov-ignore-parse-errors -j "$cores" \
    --json-summary "$build/summary.json" --html-details "$build/html/index.html" >/dev/null
/usr/bin/python3 scripts/testing_page.py coverage "$build/summary.json"
echo "$build/html/index.html"
