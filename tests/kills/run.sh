#!/usr/bin/env bash
# Every verb that writes, killed at every moment (tests/kills/kills.py): a few kills each, and 200
# each when DPMF_TEST_LONG is set. The last line is "N passed, N failed".
#
#     tests/kills/run.sh build/dpmf
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
"${CC:-cc}" -shared -fPIC -O1 "$here/kill_at.c" -o "$work/kill_at.so" -ldl || exit 70
kills=7
[[ -n ${DPMF_TEST_LONG:-} ]] && kills=0
/usr/bin/python3 -B "$here/kills.py" "$dpmf" "$work/kill_at.so" "$kills"
