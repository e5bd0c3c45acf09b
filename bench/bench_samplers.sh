#!/usr/bin/env bash
# How fast the samplers learn, on a hold-out of 10 % of MovieLens 1M (dpmf split, seed 1):
#
#  - k = 16: the error on the held-out ratings by processor time, of SGD, SGLD, SGHMC and block
#    Gibbs, one thread and one chain
#    each, and of SGD that is not told to shrink anything, which overfits where samplers do not;
#  - k = 256: the same by epochs, of SGLD, SGHMC and SGNHT.
#
# A sampler's error is that of its sample while it burns in, and that of the mean of all samples
# since then. Prints two tables in Markdown.
#
#     bench/bench_samplers.sh build/dpmf
#
# DPMF_DATA        the folder with ml-1m/ratings.dat.zst; else ../shared/data; without it this says
#                  so and ends
# BENCH_DOCS       the folder docs: its samplers.md gets the tables, and images/samplers.svg is
#                  drawn anew
# BENCH_QUICK      anything: a tenth of the epochs, to try the script itself
set -euo pipefail
dpmf=$(realpath "$1")
here=$(realpath "$(dirname "$0")")
data=$(realpath -m "${DPMF_DATA:-$here/../../shared/data}")
docs=${BENCH_DOCS:+$(realpath "$BENCH_DOCS")}
share=${BENCH_QUICK:+10}
share=${share:-1}
if [[ ! -r $data/ml-1m/ratings.dat.zst ]]; then
    echo "skipped: MovieLens 1M is not in $data"
    exit 0
fi
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"

"$dpmf" import "$data/ml-1m/ratings.dat.zst" -o all.dpr --quiet
"$dpmf" split all.dpr --train train.dpr --test test.dpr --seed 1 --quiet

# learn NAME EPOCHS ARGUMENTS...: NAME.json has the epochs, NAME.cpu the processor time, user and
# system.
learn() {
    local name=$1 epochs=$(($2 / share)) TIMEFORMAT='%U %S'
    shift 2
    {
        time "$dpmf" train train.dpr --valid test.dpr --epochs "$epochs" --no-adapt --seed 1 "$@" \
            -o model.safetensors \
            --json --quiet >"$name.json" 2>"$name.err"
    } 2>"$name.cpu" || { cat "$name.err" >&2 && exit 1; }
}

# sample NAME EPOCHS BURN_IN ARGUMENTS...
sample() {
    local name=$1 epochs=$2 burn_in=$(($3 / share))
    shift 3
    learn "$name" "$epochs" --average --chains 1 --samples 4 --burn-in "$burn_in" "$@"
}

learn sgd 20 -k 16 -j 1
learn sgd-no-penalty 60 -k 16 -j 1 --reg 0 --patience 0
sample sgld 1500 500 --solver sgld -k 16 -j 1
sample sghmc 600 200 --solver sghmc -k 16 -j 1
sample gibbs 60 20 --solver gibbs -k 16 -j 1
for solver in sgld sghmc sgnht; do
    sample "$solver-256" 150 20 --solver "$solver" -k 256 -j "${BENCH_THREADS:-2}"
done
python3 "$here/sampler_curves.py" . ${docs:+"$docs"}
