# shellcheck shell=bash
# How the scripts here count, sourced by them: `verdict NAME` after each command that is a test, or
# `fail WHAT`, or `count NAME COMMAND...`; `finish` in the end prints "N passed, N failed[, N
# skipped]", which is what scripts/run_tests.sh reads, and exits. A script may set verdict_log to a
# file in which its commands leave what they say; of one that failed its end is shown.
passed=0 failed=0 skipped=0
verdict_log=

fail() {
    failed=$((failed + 1))
    echo "FAILED: $*"
    if [[ -n $verdict_log && -s $verdict_log ]]; then
        tail -n 20 "$verdict_log" | sed 's/^/    /'
    fi
}

verdict() { # verdict NAME: by the status of the command before
    if [[ $? == 0 ]]; then passed=$((passed + 1)); else fail "$1"; fi
    if [[ -n $verdict_log ]]; then : >"$verdict_log"; fi
}

count() { # count NAME COMMAND...: a command whose own last line is such counts, which are added
    local name=$1 found counts='^([0-9]+) passed, ([0-9]+) failed(, ([0-9]+) skipped)?$'
    shift
    found=$("$@")
    sed '$d' <<<"$found"
    if [[ ${found##*$'\n'} =~ $counts ]]; then
        passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2]))
        skipped=$((skipped + ${BASH_REMATCH[4]:-0}))
    else
        fail "$name did not end: ${found##*$'\n'}"
    fi
}

finish() {
    local text="$passed passed, $failed failed"
    ((skipped)) && text+=", $skipped skipped"
    echo "$text"
    ((failed == 0))
    exit
}
