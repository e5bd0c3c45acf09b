#!/usr/bin/env bash
# The golden tests of the command line.
#
#   tests/cli/run.sh [--update] DPMF_BINARY [FILTER]
#
# A case is GROUP/NAME.sh; it runs with bash in an empty directory of its own, with `dpmf` on the
# PATH. Beside it stand what it must print and how it must end:
#   NAME.stdout.exact  NAME.stderr.exact   byte for byte
#   NAME.stdout.glob   NAME.stderr.glob    line by line, each a shell pattern, where numbers vary
#   NAME.exit                              the exit status
# What is missing means: nothing printed, status 0. A case that cannot run here prints why and exits
# with 77. FILTER is a shell pattern on GROUP/NAME. --update writes the .exact and .exit files anew
# from what was printed; read the difference before you believe it.
set -u

update=no
if [[ ${1-} == --update ]]; then
    update=yes
    shift
fi
if [[ $# -lt 1 || ! -x $1 ]]; then
    echo "usage: $0 [--update] DPMF_BINARY [FILTER]" >&2
    exit 2
fi
binary=$(realpath "$1")
filter=${2-*}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

work=$(mktemp -d "${TMPDIR:-/tmp}/dpmf-cli.XXXXXX")
trap 'chmod -R u+rwx "$work"; rm -rf "$work"' EXIT
# Some cases run as another user, who has to get here.
chmod 755 "$work"
mkdir "$work/bin" "$work/home"
ln -s "$binary" "$work/bin/dpmf"
ln -s "$(dirname "$binary")/dpmf-manpages" "$work/bin/dpmf-manpages"

export PATH=$work/bin:$PATH HOME=$work/home LC_ALL=C.UTF-8 TERM=dumb CLI_TESTS=$here
unset NO_COLOR TMPDIR COLUMNS POSIXLY_CORRECT

passed=0
failed=0

# matches PATTERNS_FILE TEXT_FILE: as many lines, and each fits its pattern
matches() {
    local -a patterns lines
    mapfile -t patterns <"$1"
    mapfile -t lines <"$2"
    ((${#patterns[@]} == ${#lines[@]})) || return 1
    local i
    for i in "${!lines[@]}"; do
        # shellcheck disable=SC2053 # a pattern it is
        [[ ${lines[i]} == ${patterns[i]} ]] || return 1
    done
}

# check_text CASE STREAM: compares what was printed, or writes it down
check_text() {
    local expected=$1.$2 got=$work/$2
    if [[ -e $expected.glob ]]; then
        matches "$expected.glob" "$got" && return 0
        diff -u --label "expected $2" --label "$2" "$expected.glob" "$got"
        return 1
    fi
    if [[ $update == yes ]]; then
        rm -f "$expected.exact"
        [[ -s $got ]] && cp "$got" "$expected.exact"
        return 0
    fi
    [[ -e $expected.exact ]] && expected=$expected.exact || expected=/dev/null
    cmp -s "$expected" "$got" && return 0
    diff -u --label "expected $2" --label "$2" "$expected" "$got"
    return 1
}

check_status() {
    local expected=0
    if [[ $update == yes ]]; then
        rm -f "$1.exit"
        [[ $2 == 0 ]] || echo "$2" >"$1.exit"
    fi
    [[ -e $1.exit ]] && expected=$(<"$1.exit")
    [[ $2 == "$expected" ]] && return 0
    echo "expected exit status $expected, got $2"
    return 1
}

run_case() {
    local script=$1 base=${1%.sh} name problems status
    name=${base#"$here"/}
    rm -rf "$work/run"
    mkdir -m 755 "$work/run"
    (cd "$work/run" && exec timeout 600 bash "$script") \
        >"$work/stdout" 2>"$work/stderr" </dev/null
    status=$?
    # The directory of a case may have been made unreadable, or read-only, on purpose.
    chmod -R u+rwx "$work/run"
    if [[ $status == 77 ]]; then
        echo "skipped $name: $(head -n 1 "$work/stdout")"
        return
    fi
    problems=$(check_text "$base" stdout; check_text "$base" stderr; check_status "$base" "$status")
    if [[ -z $problems ]]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'FAILED %s\n%s\n' "$name" "$problems"
    fi
}

for script in "$here"/*/*.sh; do
    name=${script#"$here"/}
    # shellcheck disable=SC2053
    [[ ${name%.sh} == $filter ]] && run_case "$script"
done

echo "$passed passed, $failed failed"
((failed == 0))
