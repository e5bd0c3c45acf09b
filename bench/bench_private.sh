#!/usr/bin/env bash
# How accurate private releases are: MovieLens 1M, the whole of movies.dat as the catalogue, a tenth
# of the ratings held back, everyone's vector folded in at home from the rest. Prints the mean test
# RMSE over splits and draws of the noise for each epsilon, and how long a release took.
#
#     bench/bench_private.sh build/dpmf
#
# BENCH_MOVIELENS   where ratings.dat (or ratings.dat.zst) and movies.dat are; default
#                   ../shared/data/ml-1m
# BENCH_EPSILONS    0.5,1,2,5,10,20
# BENCH_MECHANISMS  residual,biases; "residual+features" uses genre and year
# BENCH_SPLITS      5
# BENCH_DRAWS       3, of the noise, each from the operating system
set -euo pipefail
dpmf=$(realpath "$1")
data=$(realpath -m "${BENCH_MOVIELENS:-$(dirname "$0")/../../shared/data/ml-1m}")
epsilons=${BENCH_EPSILONS:-0.5,1,2,5,10,20}
mechanisms=${BENCH_MECHANISMS:-residual,residual+features,biases}
splits=${BENCH_SPLITS:-5}
draws=${BENCH_DRAWS:-3}
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
for ((split = 1; split <= splits; split++)); do
    "$dpmf" split -q all.dpr --train "train$split.dpr" --test "test$split.dpr" --seed "$split"
done

# One release: prints its test RMSE and the seconds it took.
release() {
    local mechanism=$1 epsilon=$2 split=$3 features=()
    [[ $mechanism != *+features ]] || features=(--item-features "$data/movies.dat")
    "$dpmf" train "train$split.dpr" --replace --epsilon "$epsilon" \
        --mechanism "${mechanism%+features}" \
        --rating-range 1:5 --catalogue "$data/movies.dat" "${features[@]}" --ledger ledger \
        -o release.safetensors -q --json | sed -E 's/.*"seconds":([0-9.e+-]+).*/\1/' >seconds
    "$dpmf" evaluate release.safetensors "test$split.dpr" --history "train$split.dpr" -q --json |
        sed -E 's/.*"rmse":([0-9.]+).*/\1/' | paste - seconds
}

printf '%-20s %8s %10s %10s %10s %6s\n' mechanism epsilon "mean RMSE" smallest largest seconds
for mechanism in ${mechanisms//,/ }; do
    for epsilon in ${epsilons//,/ }; do
        for ((split = 1; split <= splits; split++)); do
            for ((draw = 1; draw <= draws; draw++)); do release "$mechanism" "$epsilon" "$split"
            done
        done | awk -v name="$mechanism" -v epsilon="$epsilon" '
            NR == 1 { low = high = $1 }
            { sum += $1; seconds += $2; if ($1 < low) low = $1; if ($1 > high) high = $1 }
            END { printf "%-20s %8s %10.4f %10.4f %10.4f %6.1f\n",
                name, epsilon, sum / NR, low, high, seconds / NR }'
    done
done
