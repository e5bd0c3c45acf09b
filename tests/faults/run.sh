#!/usr/bin/env bash
# Every verb while calls of the system fail (faults.py), and what a loss of power would leave of it
# (power_loss.py): a few seeds and draws each, and hundreds when DPMF_TEST_LONG is set; FAULT_SEEDS
# overrides their number. The last line is "N passed, N failed".
#
#     tests/faults/run.sh build/dpmf
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
dpmf=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if nm -D "$dpmf" 2>/dev/null | grep -qE '__(asan|tsan|ubsan)_'; then
    echo "not with sanitizers, which want to be loaded first"
    echo "0 passed, 0 failed, 1 skipped"
    exit
fi
seeds=${FAULT_SEEDS:-12} draws=2
[[ -n ${DPMF_TEST_LONG:-} ]] && seeds=${FAULT_SEEDS:-300} draws=20
for library in fault_inject disk_record; do
    "${CC:-cc}" -shared -fPIC -O1 "$here/$library.c" -o "$work/$library.so" -ldl -pthread || exit 70
done
python=(/usr/bin/python3 -B)
passed=0 failed=0

# Shows what a script printed and adds up its last line.
add() {
    local last
    last=$(tail -n 1 <<<"$1")
    head -n -1 <<<"$1"
    if [[ $last =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
        passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2]))
    else
        echo "FAILED: ended without a line of counts: $last"
        failed=$((failed + 1))
    fi
}

add "$("${python[@]}" "$here/faults.py" "$dpmf" "$work/fault_inject.so" "$seeds" 2>&1)"
add "$("${python[@]}" "$here/power_loss.py" "$dpmf" "$work/disk_record.so" "$draws" 2>&1)"
# A disk that keeps nothing must be noticed, or the test above shows nothing.
if "${python[@]}" "$here/power_loss.py" "$dpmf" "$work/disk_record.so" 0 \
    --no-flushes >"$work/none" 2>&1; then
    echo "FAILED: without any flush, everything is said to be kept"
    failed=$((failed + 1))
else
    passed=$((passed + 1))
fi
echo "$passed passed, $failed failed"
((failed == 0))
