#!/usr/bin/env bash
# Training speed beside LIBMF's and a prototype's, in one run: a set of Netflix's shape and density
# is made, all train on it with the same number of threads, in strict turns, and each round's speeds
# are held against each other. Only the iterations count: not reading or ordering the ratings, and
# not writing the model. The speed of a run is that of its median iteration, for every program.
#
#     LIBMF=.../mf-train PROTOTYPE=.../tile_sgd bench/bench_peers.sh build/dpmf
#
# LIBMF            the program; else mf-train from the PATH
# LIBMF_BUILD      how it was built, to be printed with the figures
# PROTOTYPE        another trainer: takes --users, --k, --threads, --solver and --epochs, and prints
#                  the
#                  median epoch's "updates_per_second" as JSON. Without any peer this says so and
#                  ends
# BENCH_FACTORS    16,64,128,256,512,1024,2048
# BENCH_USERS      40000, which is about 8.2 million ratings
# BENCH_THREADS    2
# BENCH_ROUNDS     5, of each program in turn
# BENCH_DIR        keeps the files
set -euo pipefail
here=$(realpath "$(dirname "$0")")
dpmf=$(realpath "$1")
libmf=${LIBMF:-$(command -v mf-train || true)}
prototype=${PROTOTYPE:-}
factors=${BENCH_FACTORS:-16,64,128,256,512,1024,2048}
users=${BENCH_USERS:-40000}
threads=${BENCH_THREADS:-2}
rounds=${BENCH_ROUNDS:-5}
directory=${BENCH_DIR:-}
if [[ -z $libmf && -z $prototype ]]; then
    echo "skipped: there is no LIBMF here; LIBMF=PATH/mf-train says where it is"
    exit 0
fi
[[ -z $libmf ]] || libmf=$(realpath "$libmf")
[[ -z $prototype ]] || prototype=$(realpath "$prototype")
if [[ -z $directory ]]; then
    directory=$(mktemp -d)
    trap 'rm -rf "$directory"' EXIT
fi
mkdir -p "$directory"
cd "$directory"

# ---- the set: once as a store, once as LIBMF's text (user item rating, numbers from 0) -----------

ratings=$((users * 99072112 / 480189)) # as many for a user as in Netflix's set
if [[ ! -s set.dpr ]]; then
    "$dpmf" synth --like netflix --users "$users" --ratings "$ratings" -o set.dpr --quiet
fi
if [[ -n $libmf && ! -s set.txt ]]; then
    "$dpmf" export set.dpr --csv - --quiet |
        awk -F, 'NR > 1 { print $1 - 1, $2 - 1, $3 }' >set.txt.part
    mv set.txt.part set.txt
fi

# ---- one run of each: prints the median iteration's updates/s ------------------------------------

# Fewer as they take longer.
epochs_for() { echo $(($1 <= 64 ? 12 : $1 <= 256 ? 8 : 5)); }

median() {
    LC_ALL=C sort -g |
        awk '{ v[NR] = $1 } END { if (NR) print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'
}

# It prints a line when an iteration is done: times from line to line are those of all iterations
# but the first.
libmf_speed() {
    local k=$1
    "$libmf" -k "$k" -s "$threads" -t $(($(epochs_for "$k") + 1)) -r 0.02 \
        -l2 0.05 set.txt /dev/null |
        while read -r iteration _; do
            if [[ $iteration =~ ^[0-9]+$ ]]; then echo "$EPOCHREALTIME"; fi
        done |
        awk -v n="$ratings" 'NR > 1 { print n / ($1 - last) } { last = $1 }' | median
}

dpmf_speed() {
    local k=$1
    "$dpmf" train set.dpr -k "$k" --epochs "$(epochs_for "$k")" --no-adapt -j "$threads" \
        -o model.safetensors --json --quiet |
        sed -nE '/"event":"epoch"/s/.*"updates_per_second":([0-9.e+]+).*/\1/p' | median
    rm -f model.safetensors
}

prototype_speed() {
    local k=$1
    "$prototype" --users "$users" --k "$k" --threads "$threads" --solver sgd \
        --epochs "$(epochs_for "$k")" |
        sed -nE 's/.*"solver":"sgd".*"updates_per_second":([0-9.e+]+).*/\1/p'
}

# ---- in turns, and the ratios --------------------------------------------------------------------

programs=(dpmf)
[[ -z $libmf ]] || programs+=(libmf)
[[ -z $prototype ]] || programs+=(prototype)

printf '%s ratings of %s users, %s threads of %s cores, %s rounds, million updates/s\n' \
    "$ratings" "$users" "$threads" "$(nproc)" "$rounds"
printf 'processor: %s\n' "$(sed -nE 's/^model name[[:space:]]*: //p' /proc/cpuinfo | head -n 1)"
"$dpmf" --version
if [[ -n $libmf ]]; then
    printf 'LIBMF: commit %s, %s\n' \
        "$(git -C "$(dirname "$libmf")" rev-parse HEAD 2>/dev/null || echo unknown)" \
        "${LIBMF_BUILD:-build flags unknown (LIBMF_BUILD tells them)}"
fi

# The program that begins changes with the round, so that none always follows the same one.
: >speeds
n=${#programs[@]}
for k in ${factors//,/ }; do
    for ((round = 0; round < rounds; round++)); do
        for ((turn = 0; turn < n; turn++)); do
            program=${programs[(round + turn) % n]}
            echo "$k $round $program $("${program}_speed" "$k")" >>speeds
        done
    done
done
python3 "$here/ratios.py" speeds dpmf/libmf dpmf/prototype
