#!/usr/bin/env bash
# Ratings on every scale, through every solver and mechanism (tests/scales/scales.py). The last line
# is "N passed, N failed".
#
#     tests/scales/run.sh build/dpmf
set -uo pipefail
exec /usr/bin/python3 -B "$(dirname "${BASH_SOURCE[0]}")/scales.py" "$(realpath "$1")"
