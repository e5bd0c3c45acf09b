#!/usr/bin/env bash
# The first commands of README.md, from the first block to the heading "In Python", run in their
# order as they stand, in an empty folder. The last line is "N passed, N failed".
#
#     tests/readme/run.sh build/dpmf
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 70
dpmf=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
PATH=$(dirname "$dpmf"):$PATH
export PATH XDG_STATE_HOME=$work/state
passed=0 failed=0

sed -n '/^## In Python/q; s/^\$ //p' README.md >"$work/commands"
cd "$work" || exit 70
while IFS= read -r command; do
    if bash -euo pipefail -c "$command" <&- >out 2>err; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $command"
        sed 's/^/    /' err
    fi
done <commands
if ((passed + failed < 10)); then
    echo "FAILED: README.md has only $((passed + failed)) commands before \"In Python\""
    failed=$((failed + 1))
fi
echo "$passed passed, $failed failed"
((failed == 0))
