#!/usr/bin/env bash
# dpmf serve over real sockets: what it answers, what it refuses, and that slow, silent and broken
# clients stop nobody else. The last line is "N passed, N failed".
#
#     tests/serve/run.sh build/dpmf
set -uo pipefail
dpmf=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if ! command -v python3 >/dev/null; then
    echo "skipped: there is no python3 here"
    echo "0 passed, 0 failed, 1 skipped"
    exit
fi
cd "$work" || exit 70
python3 "$here/http_checks.py" "$dpmf" "$here/../cli/fixtures"
