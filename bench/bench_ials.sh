#!/usr/bin/env bash
# Implicit least squares beside the `implicit` package, in turns.
#
#   bench/bench_ials.sh DPMF_BINARY PYTHON [MOVIELENS_RATINGS]
#
# PYTHON has numpy, scipy and implicit. First the time of an iteration at equal steps of conjugate
# gradients (3), with THREADS threads (default 2), on 4.4 million likes of 40,000 users for 17,770
# items of Netflix's shape, for each k of FACTORS (default "64 128 256"): the best of ROUNDS rounds
# (default 3), in which the two take turns; seconds by the wall clock and of the processor. Then,
# where MovieLens ratings are given, how long each takes to its best HR@10 on a split of its own
# (one event of each user, by a coin, among 99 items that the user has not rated), and dpmf to the
# best of implicit. Run it on a quiet machine.
set -euo pipefail
if [[ $# -lt 2 || ! -x $1 ]]; then
    echo "usage: $0 DPMF_BINARY PYTHON [MOVIELENS_RATINGS]" >&2
    exit 2
fi
dpmf=$(realpath "$1")
python=$(command -v "$2")
ratings=${3:+$(realpath "$3")}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
"$dpmf" synth -q --like netflix --users 40000 --ratings 8240000 -o netflix.dpr
"$dpmf" export -q netflix.dpr --csv netflix.csv
OPENBLAS_NUM_THREADS=1 THREADS=${THREADS:-2} ROUNDS=${ROUNDS:-3} "$python" "$here/ials_turns.py" \
    speed "$dpmf"
if [[ -n $ratings ]]; then
    "$dpmf" import -q "$ratings" -o ratings.dpr
    "$dpmf" export -q ratings.dpr --csv ratings.csv
    OPENBLAS_NUM_THREADS=1 THREADS=${THREADS:-2} "$python" "$here/ials_turns.py" best "$dpmf"
fi
