#!/usr/bin/env bash
# The tests of `make paper`: its plots and pages, that a killed run goes on, that nothing stale or
# failed looks whole, the peers' adapters, and a tiny run from ratings to report. The last line is
# "N passed, N failed[, N skipped]".
#
#     tests/paper/run.sh build/dpmf
set -uo pipefail
DPMF_BINARY=$(realpath "$1")
cd "$(dirname "$0")" || exit 70
export DPMF_BINARY PYTHONDONTWRITEBYTECODE=1
# Peers and real ratings of this machine are no part of these tests.
unset LIBMF LIBMF_BUILD PROTOTYPE GRAPHCHI AUTHORS PEER_PYTHON NETFLIX YAHOO MOVIELENS PYTHONPATH
exec /usr/bin/python3 run.py
