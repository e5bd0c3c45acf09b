#!/usr/bin/env bash
# Builds and runs the tests: `make test` and, with --long, `make test-long`.
#
# A line per suite with its counts and seconds; of a failure the end of its log is shown, and every
# log stays in build/test-logs/. The last line is "N passed, N failed" and, if any, ", N skipped";
# the exit status is 1 when any failed. FUZZ_SECONDS is the time of each fuzzer.
#
# With --long each suite that passed is remembered in build/test-stages for the tree as it is, to the last byte: a run that was
# interrupted is started again by the same command, and runs what is left. NEW=1 begins anew.
#
# A suite is one of
#   cmocka  executables that print cmocka's summary; their own counts are added up
#   line    a script whose last line is "N passed, N failed[, N skipped]"
#   exit    a command that passes when its exit status is 0; counts as one test
set -uo pipefail
cd "$(dirname "$0")/.." || exit 70

long=""
case "$*" in
"") ;;
--long) long=yes ;;
*)
    echo "usage: scripts/run_tests.sh [--long]" >&2
    exit 2
    ;;
esac
cores=${JOBS:-$(nproc)}
fuzz_seconds=${FUZZ_SECONDS:-1}
if [[ -n $long ]]; then
    fuzz_seconds=${FUZZ_SECONDS:-60}
    export DPMF_TEST_LONG=1 # for tests that have more to do when there is time
fi

logs=build/test-logs
mkdir -p "$logs"
rm -f "$logs"/*
TMPDIR=$(mktemp -d)
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
tests_only=() # names of unit tests, where not all are wanted ...
tests_not=()  # ... and where most are;
tests_also=() # paths of others, which are begun first
unset DPMF_THREADS NO_COLOR
export LC_ALL=C.UTF-8

# The sanitizers end a program at once, with a status of their own.
export ASAN_OPTIONS=detect_leaks=1:abort_on_error=0:exitcode=99:allocator_may_return_null=1
export UBSAN_OPTIONS=print_stacktrace=1:exitcode=99
export TSAN_OPTIONS=exitcode=99:halt_on_error=1:second_deadlock_stack=1

total_passed=0
total_failed=0
total_skipped=0

# What the results hold for: the commit, and what differs from it.
stages=build/test-stages
if [[ -n $long ]]; then
    git rev-parse HEAD >/dev/null 2>&1 || NEW=1 # then nothing tells one tree from another
    tree=$({ git rev-parse HEAD && git diff HEAD && git ls-files --others --exclude-standard -z | xargs -0r sha256sum; } 2>/dev/null |
        sha256sum | cut -c 1-16)
    stages+=/$tree
    [[ -n ${NEW:-} ]] && rm -rf "$stages"
    mkdir -p "$stages"
fi

# Whether a suite has passed before, on the same tree; then its counts are added.
passed_before() {
    local kept="$stages/${1//[ ,:\/]/-}"
    [[ -n $long && -f $kept ]] || return 1
    read -r passed skipped seconds <"$kept"
    failed=0
    say "$1" "$passed passed before  ($seconds s)"
    total_passed=$((total_passed + passed))
    total_skipped=$((total_skipped + skipped))
}

say() { printf '%-40s %s\n' "$1" "$2"; }

# ---- running one suite ---------------------------------------------------------------------------

# Sets passed, failed and skipped from a log and an exit status.
count() {
    local kind=$1 log=$2 status=$3
    passed=0
    failed=0
    skipped=0
    case $kind in
    cmocka)
        passed=$(sum_of 'PASSED  ' "$log")
        failed=$(sum_of 'FAILED  ' "$log")
        skipped=$(sum_of 'SKIPPED ' "$log")
        ;;
    line)
        local last
        last=$(tail -n 1 "$log")
        if [[ $last =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed(,\ ([0-9]+)\ skipped)?$ ]]; then
            passed=${BASH_REMATCH[1]}
            failed=${BASH_REMATCH[2]}
            skipped=${BASH_REMATCH[4]:-0}
        else
            echo "(ended without a line of counts, status $status)" >>"$log"
            failed=1
        fi
        ;;
    exit)
        ((status == 0)) && passed=1
        ;;
    esac
    # A crash, a leak found at exit or a timeout is a failure that no summary counted.
    if ((status != 0 && failed == 0)); then
        failed=1
        echo "(ended with status $status)" >>"$log"
    fi
}

# Adds up the n of cmocka's "[  PASSED  ] n test(s)." lines; the list of names below is not counted.
sum_of() {
    sed -nE "s/.*\[  $1\] ([0-9]+) test\(s\).*/\1/p" "$2" | awk '{ n += $1 } END { print n + 0 }'
}

# suite NAME KIND SECONDS COMMAND...: runs it with a time limit (for what hangs: slow machines have time), counts it, says so.
suite() {
    local name=$1 kind=$2 limit=$3
    shift 3
    passed_before "$name" && return
    local log="$logs/${name//[ ,:\/]/-}.log" begun=$SECONDS
    timeout --kill-after=10 "$limit" "$@" >"$log" 2>&1 </dev/null
    count "$kind" "$log" $?
    report "$name" "$log" $((SECONDS - begun))
}

# Runs a function on each of the other arguments, `cores` at once. It logs to $logs/NAME.log, NAME
# being the argument's last part, and leaves its status beside that.
on_each() {
    local function=$1 item name
    shift
    for item in "$@"; do
        while (($(jobs -rp | wc -l) >= cores)); do
            wait -n
        done
        name=$suite_prefix$(basename "$item")
        {
            "$function" "$item" >"$logs/$name.log" 2>&1 </dev/null
            echo $? >"$logs/$name.status"
        } &
    done
    wait
}

# queue NAME KIND SECONDS "COMMAND": a suite that run_queued runs beside others: one more at once
# than there are cores, because they wait now and then.
queued=() kinds=() limits=() commands=()
queue() {
    passed_before "$1" && return
    queued+=("$1") kinds+=("$2") limits+=("$3") commands+=("$4")
}

run_queued() {
    local i log logs_of=()
    for i in "${!queued[@]}"; do
        while (($(jobs -rp | wc -l) > cores)); do
            wait -n
        done
        log="$logs/${queued[i]//[ ,:\/]/-}.log"
        logs_of+=("$log")
        {
            begun=$SECONDS
            # shellcheck disable=SC2086 # a command and its argument
            timeout --kill-after=10 "${limits[i]}" ${commands[i]} >"$log" 2>&1 </dev/null
            echo "$? $((SECONDS - begun))" >"$log.ended"
        } &
    done
    wait
    for i in "${!queued[@]}"; do
        log=${logs_of[i]}
        read -r status seconds <"$log.ended"
        count "${kinds[i]}" "$log" "$status"
        report "${queued[i]}" "$log" "$seconds"
        rm -f "$log.ended"
    done
    queued=() kinds=() limits=() commands=()
}

# suite_of_executables NAME SECONDS FOLDER [LAUNCHER...]: every cmocka test in a folder but those in
# `tests_not`, or those named in `tests_only` when that is not empty.
suite_of_executables() {
    local name=$1 limit=$2 folder=$3 begun=$SECONDS all executable log sums=(0 0 0)
    shift 3
    passed_before "$name" && return
    local launcher=("$@") executables=("${tests_also[@]}")
    for executable in "$folder"/test_*; do
        [[ -x $executable && -f "tests/$(basename "$folder")/$(basename "$executable").c" ]] || continue
        [[ ${#tests_only[@]} == 0 || " ${tests_only[*]} " == *" ${executable##*/test_} "* ]] || continue
        [[ " ${tests_not[*]} " != *" ${executable##*/test_} "* ]] || continue
        executables+=("$executable")
    done
    if ((${#executables[@]} == 0)); then
        skip "$name" "there are none"
        return
    fi
    suite_prefix="${name//[ ,]/-}."
    all="$logs/${suite_prefix}log"
    : >"$all"
    run_executable() { timeout --kill-after=10 "$limit" "${launcher[@]}" "$1"; }
    on_each run_executable "${executables[@]}"
    for executable in "${executables[@]}"; do
        log="$logs/$suite_prefix$(basename "$executable").log"
        count cmocka "$log" "$(cat "${log%.log}.status")"
        if ((passed + failed + skipped == 0)); then
            echo "(no test ran)" >>"$log"
            failed=1
        fi
        if ((failed)); then
            { echo "--- $executable"; grep -vE '^\[ +(RUN|OK) ' "$log"; } >>"$all"
        fi
        sums=($((sums[0] + passed)) $((sums[1] + failed)) $((sums[2] + skipped)))
        rm -f "${log%.log}.status"
    done
    passed=${sums[0]} failed=${sums[1]} skipped=${sums[2]}
    report "$name" "$all" $((SECONDS - begun))
}

report() {
    local text="$passed passed"
    ((failed)) && text+=", $failed FAILED"
    ((skipped)) && text+=", $skipped skipped"
    say "$1" "$text  (${3} s)"
    [[ -n $long && $failed == 0 ]] && echo "$passed $skipped $3" >"$stages/${1//[ ,:\/]/-}"
    if ((failed)); then
        tail -n 40 "$2" | sed 's/^/    /'
        echo "    (all of it: $2)"
    fi
    total_passed=$((total_passed + passed))
    total_failed=$((total_failed + failed))
    total_skipped=$((total_skipped + skipped))
}

skip() {
    say "$1" "skipped: $2"
    total_skipped=$((total_skipped + 1))
}

# build NAME PRESET [OPTION...]: configures and builds with its tests (or only what `tests_only`
# names), warnings as errors. A failure counts and is shown; success says nothing.
build() {
    local name=$1 preset=$2 log="$logs/build-$2.log" begun=$SECONDS
    shift 2
    local targets=(all tests)
    [[ -z $long && $preset != release ]] && targets=(tests) # the program is tried with --long
    ((${#tests_only[@]})) && targets=("${tests_only[@]/#/test_}")
    if { cmake --preset "$preset" "$@" &&
        cmake --build --preset "$preset" -j "$cores" --target "${targets[@]}"; } >"$log" 2>&1; then
        say "build: $name" "done  ($((SECONDS - begun)) s)"
        return 0
    fi
    passed=0 failed=1 skipped=0
    grep -nE '(: (fatal )?(error|warning): |undefined reference|CMake Error|is needed:)' "$log" | head -n 40 >"$log.short"
    [[ -s $log.short ]] || cp "$log" "$log.short"
    report "build: $name" "$log.short" $((SECONDS - begun))
    return 1
}

finish() {
    local text="$total_passed passed, $total_failed failed"
    ((total_skipped)) && text+=", $total_skipped skipped"
    [[ -n $long ]] && echo "all of it in $((SECONDS / 60)) minutes, besides what had passed before"
    echo "$text"
    ((total_failed == 0))
    exit
}

# How a sanitized program is started: plainly, or with a fixed address layout where the kernel's
# random one is wider than the sanitizer's map. Sets `launcher`; fails when neither works.
find_launcher() {
    local probe=$TMPDIR/probe
    echo 'int main(void) { return 0; }' >"$probe.c"
    "${CC:-cc}" "-fsanitize=$1" "$probe.c" -o "$probe" >/dev/null 2>&1 || return 1
    launcher=()
    for _ in 1 2 3 4 5 6 7 8; do
        "$probe" >/dev/null 2>&1 && continue
        launcher=(setarch "$(uname -m)" -R)
        "${launcher[@]}" "$probe" >/dev/null 2>&1
        return
    done
}

# ---- the fuzzers ---------------------------------------------------------------------------------

# Each starts from its seeds in tests/fuzz/corpus/NAME; what it finds goes to build/fuzz-corpus.
run_fuzzer() {
    local name found folders
    name=$(basename "$1")
    found=build/fuzz-corpus/$name
    folders=("$found")
    for seeds in "tests/fuzz/corpus/${name#fuzz_}" "tests/fuzz/corpus/$name"; do
        [[ -d $seeds ]] && folders+=("$seeds")
    done
    mkdir -p "$found"
    timeout --kill-after=10 $((fuzz_seconds + 120)) "${launcher[@]}" "$1" \
        -max_total_time="$fuzz_seconds" -timeout=20 -rss_limit_mb=2048 -print_final_stats=1 \
        -artifact_prefix="$logs/$name-" "${folders[@]}"
}

suite_of_fuzzers() {
    passed_before "fuzzers, $fuzz_seconds s each" && return
    local begun=$SECONDS name fuzzers=(build/fuzz/tests/fuzz/fuzz_*)
    if [[ ! -x ${fuzzers[0]} ]]; then
        skip "fuzzers" "none are built"
        return
    fi
    suite_prefix=""
    on_each run_fuzzer "${fuzzers[@]}"
    passed=0 failed=0 skipped=0
    : >"$logs/fuzzers.log"
    for fuzzer in "${fuzzers[@]}"; do
        name=$(basename "$fuzzer")
        if [[ $(cat "$logs/$name.status") == 0 ]]; then
            passed=$((passed + 1))
        else
            failed=$((failed + 1))
            { echo "--- $name"; tail -n 30 "$logs/$name.log"; } >>"$logs/fuzzers.log"
        fi
        rm -f "$logs/$name.status"
    done
    report "fuzzers, $fuzz_seconds s each" "$logs/fuzzers.log" $((SECONDS - begun))
}

# ---- what is run ---------------------------------------------------------------------------------

build "release" release -DDPMF_TESTS=ON -DDPMF_WERROR=ON || finish

suite_of_executables "unit tests" 900 build/tests/unit

# As on other machines: what is sized from caches, divided among cores or computed by an instruction
# set's kernels, for other caches, other numbers of cores, and every set of kernels that this
# machine has; all of it with --long.
on_other_machines() {
    local shape cores_claimed set
    [[ -z $long ]] && tests_only=(superblock_stream train snapshot noise_schedule ranks convergence bench evaluate)
    for shape in 32K,256K,8M 48K,2M,260M 64K,1M,none unknown; do # and 32K,512K,32M above
        DPMF_CACHES=$shape suite_of_executables "unit tests, caches $shape" 900 build/tests/unit
    done
    [[ -z $long ]] && tests_only=(train threads pipeline import store split evaluate)
    for cores_claimed in 1 2 64; do
        DPMF_CORES=$cores_claimed suite_of_executables "unit tests, cores $cores_claimed" 900 build/tests/unit
    done
    [[ -z $long ]] && tests_only=(train convergence recommend fold_in client_user gibbs posterior_mean evaluate)
    for set in $(build/dpmf doctor --json | grep -oE '"name":"[a-z0-9]+","description":"[^"]*","supported":true' |
        sed -E 's/"name":"([a-z0-9]+)".*/\1/'); do
        DPMF_KERNELS=$set suite_of_executables "unit tests, kernels $set" 900 build/tests/unit
    done
    for set in avx2 avx512; do
        build/dpmf doctor --json | grep -qE "\"name\":\"$set\",\"description\":\"[^\"]*\",\"supported\":true" ||
            skip "unit tests, kernels $set" "this machine has none"
    done
    tests_only=()
}
on_other_machines

# Those that take longest first, so that no core waits for the last of them.
longest=(cli kernels data failure)
# Without --long, allocations fail under the address sanitizer alone, further below: it sees what this one does, and more.
[[ -n $long ]] && queue "failure tests" cmocka 1800 build/tests/failure/test_allocation
for folder in "${longest[@]}"; do
    queue "tests/$folder/run.sh" line 1800 "tests/$folder/run.sh build/dpmf"
done
for script in tests/*/run.sh; do
    folder=$(basename "$(dirname "$script")")
    [[ " ${longest[*]} " == *" $folder "* ]] || queue "$script" line 1800 "$script build/dpmf"
done
queue "man page examples" line 900 "tests/cli/man_examples.sh build/dpmf"
queue "include law" line 900 "scripts/include_law.sh --objects build"
run_queued

if find_launcher address; then
    if build "address, undefined sanitizers" asan; then
        # Statistics takes long under it and touches no other memory: with --long only.
        [[ -z $long ]] && tests_not=(langevin langevin_train gibbs posterior_sampler convergence audit search)
        tests_also=(build/asan/tests/failure/test_allocation)
        suite_of_executables "unit and failure tests, asan+ubsan" 900 build/asan/tests/unit "${launcher[@]}"
        tests_not=() tests_also=()
        if [[ -n $long ]]; then
            suite "tests/cli/run.sh, asan+ubsan" line 1800 "${launcher[@]}" tests/cli/run.sh build/asan/dpmf
            suite "man page examples, asan+ubsan" line 1800 \
                "${launcher[@]}" tests/cli/man_examples.sh build/asan/dpmf
        fi
    fi
else
    skip "address sanitizer" "it does not run on this machine"
fi

if find_launcher thread; then
    # Slow, so without --long only what threads stand on: everything else is made of these.
    [[ -z $long ]] && tests_only=(threads pipeline superblock_stream import tiling id_map)
    if build "thread sanitizer" tsan; then
        suite_of_executables "unit tests, tsan" 900 build/tsan/tests/unit "${launcher[@]}"
        if [[ -n $long ]]; then
            suite "tests/cli/run.sh, tsan" line 1800 "${launcher[@]}" tests/cli/run.sh build/tsan/dpmf
        fi
    fi
    tests_only=()
else
    skip "thread sanitizer" "it does not run on this machine"
fi

if ! command -v clang >/dev/null; then
    skip "fuzzers" "there is no clang"
elif ! CC=clang find_launcher fuzzer-no-link,address; then
    skip "fuzzers" "libFuzzer does not run on this machine"
elif build "fuzzers, clang" fuzz; then
    suite_of_fuzzers
fi

if [[ -n $long ]]; then
    if ! command -v mpirun >/dev/null; then
        skip "several processes" "there is no mpirun"
    elif build "the plugin for MPI" release -DDPMF_MPI=ON; then
        suite "several processes" line 1800 env DPMF_TEST_MPI=1 tests/mpi/run.sh build/dpmf
    fi
    if ! command -v clang >/dev/null; then
        skip "clang" "there is no clang"
    elif build "clang, release" clang; then
        suite_of_executables "unit tests, clang" 300 build/clang/tests/unit
    fi
    if build "debug" debug; then
        suite_of_executables "unit tests, debug" 300 build/debug/tests/unit
    fi
    if ! command -v valgrind >/dev/null; then
        skip "valgrind" "it is not installed"
    else
        # The optimised build: it is what users run, and quicker here than the debug one.
        suite_of_executables "unit tests, valgrind" 1800 build/tests/unit \
            valgrind --quiet --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite
    fi
fi

finish
