#!/usr/bin/env bash
# dpmf serve over real sockets: what it answers, what it refuses, and that slow, silent and broken
# clients stop nobody else; with DPMF_TEST_LONG also for SOAK_SECONDS (an hour) under load. The last
# line is "N passed, N failed".
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
# shellcheck source=tests/verdicts.sh
source "$here/../verdicts.sh"
count http_checks.py python3 "$here/http_checks.py" "$dpmf" "$here/../cli/fixtures"
[[ -n ${DPMF_TEST_LONG:-} ]] &&
    count soak.py python3 "$here/soak.py" "$dpmf" "$here/../cli/fixtures" "${SOAK_SECONDS:-3600}"
finish
