#!/usr/bin/env bash
# At home: what a person gets from a public release and their own ratings. Recommendations,
# predictions and explanations of 1,000 random users are those of a dense solve in double, which
# reads the release by its specification alone; and hostile release files are refused by every verb.
# Uses MovieLens 1M from $DPMF_DATA or ../shared/data when it is there, since its licence forbids to
# ship it, and a synthetic set of its shape otherwise. The last line is "N passed, N failed[, N
# skipped]".
#
#     tests/home/run.sh build/dpmf
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 70
# shellcheck source=tests/verdicts.sh
source tests/verdicts.sh
dpmf=$(realpath "$1")
data=$(realpath -m "${DPMF_DATA:-../shared/data}")
here=$PWD/tests/home fixtures=$PWD/tests/cli/fixtures
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 70
export PYTHONDONTWRITEBYTECODE=1

# count COMMAND...: of what it prints, lines that begin with passed: and FAILED: are tests
count() {
    local status
    "$@" >log 2>errors
    status=$?
    passed=$((passed + $(grep -c '^passed: ' log)))
    local wrong
    wrong=$(grep -c '^FAILED: ' log)
    if ((status != 0 && wrong == 0)); then
        wrong=1
        echo "FAILED: $* ended with $status"
        tail -n 5 errors
    fi
    failed=$((failed + wrong))
    cat log
}

# Debian's own, whose NumPy is the python3-numpy of packages.txt; another one may come first on the
# PATH.
python=/usr/bin/python3
if ! "$python" -c 'import numpy' 2>/dev/null; then
    skipped=1
    echo "skipped: $python has no NumPy to compare with (python3-numpy)"
    finish
fi

if [[ -r $data/ml-1m/ratings.dat.zst && -r $data/ml-1m/movies.dat ]]; then
    echo "the ratings are MovieLens 1M"
    format=movielens ratings=$data/ml-1m/ratings.dat.zst catalogue=$data/ml-1m/movies.dat
else
    echo "MovieLens 1M is not in $data: the ratings are synthetic"
    format=dpr ratings=synth.dpr catalogue=items.csv
    "$dpmf" synth -q --like ml-1m --catalogue-out items.csv -o synth.dpr
fi
"$dpmf" import -q "$ratings" --format "$format" --on-error skip -o ratings.dpr &&
    "$dpmf" export -q ratings.dpr --csv .
head -n 100000 ratings.csv >some.csv # for what needs fewer users

"$dpmf" ledger init -q ledger

# With factors, and with biases alone.
for options in "--epsilon 8" "--epsilon 1 --mechanism biases"; do
    # shellcheck disable=SC2086 # words they are
    if ! "$dpmf" train -q --replace ratings.dpr $options --rating-range 1:5 \
        --catalogue "$catalogue" --ledger ledger -o r.safetensors; then
        failed=$((failed + 1))
        echo "FAILED: no release with $options"
        continue
    fi
    echo "a release with $options:"
    users=(ratings.csv 1000)
    [[ $options == *biases* ]] && users=(some.csv 100)
    count "$python" "$here/dense_solve.py" "$dpmf" r.safetensors "${users[@]}"
done

count "$python" "$here/hostile_releases.py" "$dpmf" "$fixtures/release.safetensors"
finish
