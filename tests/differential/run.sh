#!/usr/bin/env bash
# The same bytes read by dpmf and by others (readers.py), and the same ratings learnt from with the
# reference's inner loops and with the machine's (kernels.py): a few, and many when DPMF_TEST_LONG
# is set. The last line is "N passed, N failed[, N skipped]".
#
#     tests/differential/run.sh build/dpmf
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
dpmf=$(realpath "$1")
# shellcheck source=tests/verdicts.sh
source "$here/../verdicts.sh"
tables=60 sets=4
[[ -n ${DPMF_TEST_LONG:-} ]] && tables=3000 sets=200

if command -v sqlite3 >/dev/null; then
    count readers.py /usr/bin/python3 -B "$here/readers.py" "$dpmf" "$tables"
else
    echo "skipped: readers.py needs sqlite3"
    skipped=$((skipped + 1))
fi
count kernels.py /usr/bin/python3 -B "$here/kernels.py" "$dpmf" "$sets"
finish
