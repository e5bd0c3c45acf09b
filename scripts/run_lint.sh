#!/usr/bin/env bash
# `make lint`: the include law, clang-tidy, cppcheck, shellcheck, prose and the layout of the code.
# A line for each; details only of what is wrong. Ends with "N passed, N failed"; 1 when any failed.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 70
cores=${JOBS:-$(nproc)}

passed=0
failed=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT

check() {
    local name=$1 begun=$SECONDS
    shift
    if "$@" >"$log" 2>&1; then
        passed=$((passed + 1))
        printf '%-14s clean  (%d s)\n' "$name" $((SECONDS - begun))
    else
        failed=$((failed + 1))
        printf '%-14s NOT clean  (%d s)\n' "$name" $((SECONDS - begun))
        sed 's/^/    /' "$log"
    fi
}

# Of clang-tidy's tales only the findings and their lines; `clang-tidy -p build FILE` tells them
# whole.
tidy() {
    # what this machine compiles: kernels for other machines cannot be looked at here
    sed -nE 's|^ *"file": "(.*/(lib\|programs)/.*\.c)",?$|\1|p' build/compile_commands.json |
        sort -u |
        xargs -d '\n' -P "$cores" -n 4 clang-tidy -p build --quiet 2>/dev/null >"$log.tidy"
    grep -A 2 -E ': (error|warning): ' "$log.tidy"
    local found=$?
    rm -f "$log.tidy"
    ((found != 0))
}

# Two checks are left to others: cppcheck takes the address of a variable for a use of it, and does
# not see a pointer that is stored through memcpy (lib/base/memory.c).
analyse() {
    cppcheck --suppress=uninitvar --suppress=ctuuninitvar --suppress=memleak:lib/base/memory.c \
        --enable=warning,performance,portability --std=c11 --inline-suppr --quiet \
        --error-exitcode=1 --suppress=missingIncludeSystem --suppress=normalCheckLevelMaxBranches \
        -D__GNUC__ -DDPMF_VERSION='"0"' -I include -I lib -I programs -j "$cores" lib programs
}

lint_scripts() {
    find scripts tests bench .ci \( -name '*.sh' -o -path .ci/run \) -print0 | xargs -0 shellcheck
}

# Which files, and how many places in each; what to do about it is always the same.
layout() {
    local places
    places=$(find include lib programs web reference tests bench -name '*.[ch]' -print0 |
        xargs -0 clang-format --dry-run 2>&1 | sed -nE 's/^([^:]+):[0-9]+:[0-9]+: warning.*/\1/p' |
        LC_ALL=C sort | uniq -c)
    [[ -z $places ]] && return 0
    printf '%s\nmake format fixes it.\n' "$places"
    return 1
}

mkdir -p build
if [[ ! -f build/Makefile ]]; then
    cmake --preset release >/dev/null || exit 1
fi

check "include law" scripts/include_law.sh
check "layout" layout
check "prose" scripts/prose_check.sh
check "shellcheck" lint_scripts
check "cppcheck" analyse
check "clang-tidy" tidy

printf '%d passed, %d failed\n' "$passed" "$failed"
((failed == 0))
