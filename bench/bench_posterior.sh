#!/usr/bin/env bash
# The paper's release, --mechanism posterior: MovieLens 1M, tau = 100, a tenth of the ratings held
# back, everyone's vector folded in at home from the rest. For each epsilon the test RMSE of several
# releases, beside that of the draws of a long run of another sampler on the same target
# (bench_posterior.c). Fails when they differ by more than 0.005: the test RMSE of a draw has a
# standard deviation below 0.001.
#
#     bench/bench_posterior.sh build/dpmf
#
# BENCH_MOVIELENS   where ratings.dat (or ratings.dat.zst) and movies.dat are; default
#                   ../shared/data/ml-1m
# BENCH_EPSILONS    250,1000
# BENCH_DRAWS       3 releases of each
# BENCH_SWEEPS      1000 of the other sampler; 0: without it
# BENCH_KAPPA       1
set -euo pipefail
dpmf=$(realpath "$1")
reference=$(dirname "$dpmf")/bench/bench_posterior
data=$(realpath -m "${BENCH_MOVIELENS:-$(dirname "$0")/../../shared/data/ml-1m}")
epsilons=${BENCH_EPSILONS:-250,1000}
draws=${BENCH_DRAWS:-3}
sweeps=${BENCH_SWEEPS:-1000}
kappa=${BENCH_KAPPA:-1}
if [[ ! -s $data/movies.dat ]]; then
    echo "skipped: there is no MovieLens 1M in $data; BENCH_MOVIELENS=DIR says where it is"
    exit 0
fi
ratings=$data/ratings.dat
[[ -s $ratings ]] || ratings=$data/ratings.dat.zst
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"

"$dpmf" ledger init -q ledger
"$dpmf" import -q "$ratings" --format movielens --on-error skip -o all.dpr
"$dpmf" split -q all.dpr --train train.dpr --test test.dpr

# The test RMSE of one release.
release() {
    "$dpmf" train train.dpr --replace --epsilon "$1" --mechanism posterior --rating-range 1:5 \
        --catalogue "$data/movies.dat" --ledger ledger --chains 1 --kappa "$kappa" -q \
        -o release.safetensors
    "$dpmf" evaluate release.safetensors test.dpr --history train.dpr -q --json |
        sed -E 's/.*"rmse":([0-9.]+).*/\1/'
}

status=0
printf '%8s %16s %10s %10s %16s %10s\n' epsilon "releases, mean" smallest largest "other sampler" sd
for epsilon in ${epsilons//,/ }; do
    for ((draw = 1; draw <= draws; draw++)); do release "$epsilon"; done >found
    echo "mean nan sd nan" >long
    ((sweeps == 0)) ||
        "$reference" train.dpr "$data/movies.dat" test.dpr "$epsilon" "$sweeps" "$kappa" |
        tail -1 >long
    awk -v epsilon="$epsilon" -v long="$(cut -d' ' -f2 long)" -v sd="$(cut -d' ' -f4 long)" '
        NR == 1 { low = high = $1 }
        { sum += $1; if ($1 < low) low = $1; if ($1 > high) high = $1 }
        END {
            printf "%8s %16.4f %10.4f %10.4f %16s %10s\n", epsilon, sum / NR, low, high, long, sd
            away = sum / NR - long
            if (long != "nan" && (away > 0.005 || away < -0.005)) exit 1
        }' found || status=1
done
exit "$status"
