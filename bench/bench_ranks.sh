#!/usr/bin/env bash
# What processes lose against threads, and whether the model of docs/scaling.md holds: r processes
# of one thread (mpirun -n r dpmf train -j 1) against one process of r threads, in strict turns on
# one set of Netflix's shape and density, each run by its fastest epoch, which other work on the
# machine slows least; bytes sent in an epoch against what bench/scaling_model.py says; and, where
# network namespaces and tc can be had, the same over a wire that is made slow.
#
#     bench/bench_ranks.sh build/dpmf
#
# BENCH_FACTORS    32,128
# BENCH_USERS      30000, which is about 6.2 million ratings
# BENCH_ROUNDS     5, of each way in turn
# BENCH_RANKS      1,2
# BENCH_WIRES      200,1000: Mbit/s; "" for none
# BENCH_DIR        keeps the files; runs.json in it is what scaling_model.py reads
set -euo pipefail
here=$(realpath "$(dirname "$0")")
dpmf=$(realpath "$1")
factors=${BENCH_FACTORS:-32,128}
users=${BENCH_USERS:-30000}
rounds=${BENCH_ROUNDS:-5}
sizes=${BENCH_RANKS:-1,2}
wires=${BENCH_WIRES-200,1000}
directory=${BENCH_DIR:-}
if ! command -v mpirun >/dev/null; then
    echo "skipped: there is no mpirun here; make mpi installs it"
    exit 0
fi
if [[ ! -e $(dirname "$dpmf")/libdpmf-mpi.so && -z ${DPMF_MPI_PLUGIN:-} ]]; then
    echo "skipped: libdpmf-mpi.so is not built; make mpi builds it"
    exit 0
fi
if [[ -z $directory ]]; then
    directory=$(mktemp -d)
    trap 'rm -rf "$directory"' EXIT
fi
mkdir -p "$directory"
cd "$directory"
# in a container there is nobody else
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

ratings=$((users * 99072112 / 480189)) # as many for a user as in Netflix's set
if [[ ! -s set.dpr ]]; then
    "$dpmf" synth --like netflix --users "$users" --ratings "$ratings" -o set.dpr --quiet
fi
field() { sed -nE "s/.*\"$1\":([0-9.e+-]+).*/\1/p"; }
described=$("$dpmf" describe set.dpr --json)
items=$(field items <<<"$described")
ratings=$(field ratings <<<"$described")

# ---- one run: leaves its lines of JSON in log, and prints the fastest epoch's updates/s ----------

epochs_for() { echo $(($1 <= 64 ? 40 : 20)); }

# train K THREADS [COMMAND...]: COMMAND starts dpmf
train() {
    local k=$1 threads=$2
    shift 2
    "$@" "$dpmf" train set.dpr -k "$k" --epochs "$(epochs_for "$k")" --no-adapt \
        -o model.safetensors --json --quiet \
        -j "$threads" >log
    rm -f model.safetensors
    grep '"event":"epoch"' log | field updates_per_second | LC_ALL=C sort -g | tail -n 1
}

# keep RANKS THREADS K SPEED MBITS: a line for scaling_model.py
keep() {
    local sent
    sent=$(grep '"event":"done"' log | field bytes_sent)
    awk -v r="$1" -v t="$2" -v k="$3" -v v="$4" -v mbit="$5" -v b="${sent:-0}" \
        -v e="$(epochs_for "$3")" -v u="$users" -v i="$items" -v n="$ratings" \
        -v c="$(nproc)" 'BEGIN {
        printf "{\"ranks\":%d,\"threads\":%d,\"cores\":%d,", r, t, c
        printf "\"factors\":%d,\"users\":%d,\"items\":%d,\"ratings\":%d,",
            k, u, i, n
        printf "\"seconds\":%.6g,\"bytes\":%.12g,\"bandwidth\":%.9g}\n",
            n / v, b / e, mbit * 125000 }' >>runs.json
}

# ---- in turns ------------------------------------------------------------------------------------

printf '%s ratings of %s users and %s items, %s cores, %s rounds, million updates/s\n' \
    "$ratings" "$users" "$items" "$(nproc)" "$rounds"
printf 'processor: %s\n' "$(sed -nE 's/^model name[[:space:]]*: //p' /proc/cpuinfo | head -n 1)"
"$dpmf" --version
: >runs.json
names=()
: >speeds
for r in ${sizes//,/ }; do
    names+=("ranks$r/threads$r")
    for k in ${factors//,/ }; do
        for ((round = 0; round < rounds; round++)); do
            for ((turn = 0; turn < 2; turn++)); do
                if (((round + turn) % 2 == 0)); then
                    speed=$(train "$k" "$r" env)
                    echo "$k $round threads$r $speed" >>speeds
                    keep 1 "$r" "$k" "$speed" 0
                else
                    speed=$(train "$k" 1 mpirun --oversubscribe --bind-to none -n "$r")
                    echo "$k $round ranks$r $speed" >>speeds
                    ((r == 1)) || keep "$r" 1 "$k" "$speed" 0
                fi
            done
        done
    done
done
python3 "$here/ratios.py" speeds "${names[@]}"

# ---- a slow wire ---------------------------------------------------------------------------------

# In a network of its own, whose only wire all ranks share.
over_wire() {
    local mbit=$1
    shift
    # shellcheck disable=SC2016 # the inner shell expands these
    unshare -n bash -c \
        'ip link set lo up && tc qdisc add dev lo root tbf rate "$0mbit" burst 256kb latency 1s &&
        exec "$@"' "$mbit" "$@"
}

if [[ -n $wires ]] && over_wire 1000 true 2>/dev/null; then
    k=${factors##*,}
    for wire in ${wires//,/ }; do
        for r in 2 3; do
            speed=$(train "$k" 1 over_wire "$wire" mpirun --oversubscribe --bind-to none -n "$r" \
                --mca btl tcp,self --mca btl_tcp_if_include lo --mca oob_tcp_if_include lo)
            keep "$r" 1 "$k" "$speed" "$wire"
        done
    done
elif [[ -n $wires ]]; then
    echo "no slow wires: unshare -n and tc are not to be had here"
fi
python3 "$here/scaling_model.py" check runs.json
python3 "$here/scaling_model.py" predict runs.json
