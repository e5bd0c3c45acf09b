#!/usr/bin/env bash
# The ranking metrics of `dpmf evaluate` against an independent implementation in NumPy, on a model
# of synthetic ratings: all items, each fifth of them by popularity, and one item among candidates.
# The last line is "N passed, N failed[, N skipped]".
#
#     tests/ranking/run.sh build/dpmf
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 70
# shellcheck source=tests/verdicts.sh
source tests/verdicts.sh
dpmf=$(realpath "$1")
here=$PWD/tests/ranking
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 70
export PYTHONDONTWRITEBYTECODE=1

# Debian's own, whose NumPy is the python3-numpy of packages.txt; another one may come first on the
# PATH.
python=/usr/bin/python3
if ! "$python" -c 'import numpy' 2>/dev/null; then
    skipped=1
    echo "skipped: $python has no NumPy to compare with (python3-numpy)"
    finish
fi

"$dpmf" synth -q --users 500 --items 203 --ratings 20000 --seed 5 -o all.dpr &&
    "$dpmf" split -q all.dpr --train train.dpr --test test.dpr --test-fraction 0.2 --seed 3 &&
    "$dpmf" export -q train.dpr --csv - >train.csv &&
    "$dpmf" export -q test.dpr --csv - >test.csv &&
    "$dpmf" train -q train.dpr -k 8 --epochs 5 --deterministic -o m.safetensors
verdict "a model to judge"
for n in 1 10 150 1500; do
    "$python" "$here/dense_metrics.py" "$dpmf" m.safetensors train.csv test.csv "$n" >log 2>errors
    verdict "dense_metrics.py with n = $n"
    tail -n 1 errors
    passed=$((passed + $(grep -c '^passed: ' log)))
    failed=$((failed + $(grep -c '^FAILED: ' log)))
    grep '^FAILED: ' log
done
finish
