#!/usr/bin/env bash
# Training speed beside LIBMF's, in one run: a set of Netflix's shape and density is made, both train on it
# with the same number of threads, in turns, and the medians of their speeds are held against each other.
# Of both, only the iterations count: not reading or ordering the ratings, and not writing the model.
#
#     LIBMF=.../mf-train bench/bench_peers.sh build/dpmf
#
# LIBMF            the program; else mf-train from the PATH; without either this says so and ends
# LIBMF_BUILD      how it was built, to be printed with the figures
# PROTOTYPE        another trainer: takes --users, --k, --threads, --solver and --epochs, and prints
#                  "updates_per_second" as JSON
# BENCH_FACTORS    16,64,128,256,512,1024,2048
# BENCH_USERS      40000, which is about 8.2 million ratings
# BENCH_THREADS    2
# BENCH_ROUNDS     3, of each program in turn
# BENCH_DIR        keeps the files
set -euo pipefail
dpmf=$(realpath "$1")
libmf=${LIBMF:-$(command -v mf-train || true)}
prototype=${PROTOTYPE:-}
factors=${BENCH_FACTORS:-16,64,128,256,512,1024,2048}
users=${BENCH_USERS:-40000}
threads=${BENCH_THREADS:-2}
rounds=${BENCH_ROUNDS:-3}
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

# ---- the set: once as a store, once as LIBMF's text (user item rating, numbers from 0) --------------------

ratings=$((users * 99072112 / 480189)) # as many for a user as in Netflix's set
if [[ ! -s set.dpr ]]; then
    "$dpmf" synth --like netflix --users "$users" --ratings "$ratings" -o set.dpr --quiet
fi
if [[ -n $libmf && ! -s set.txt ]]; then
    "$dpmf" export set.dpr --csv - --quiet | awk -F, 'NR > 1 { print $1 - 1, $2 - 1, $3 }' >set.txt.part
    mv set.txt.part set.txt
fi

# ---- one run of each: prints updates/s --------------------------------------------------------------------

# Fewer as they take longer.
epochs_for() { echo $(($1 <= 64 ? 12 : $1 <= 256 ? 8 : 4)); }

# It prints a line an iteration: the time from the first line to the last is that of all iterations but one.
libmf_speed() {
    local k=$1 epochs
    epochs=$(epochs_for "$k")
    "$libmf" -k "$k" -s "$threads" -t $((epochs + 1)) -r 0.02 -l2 0.05 set.txt /dev/null |
        while read -r iteration _; do
            if [[ $iteration =~ ^[0-9]+$ ]]; then echo "$EPOCHREALTIME"; fi
        done |
        awk -v n="$ratings" 'NR == 1 { a = $1 } { b = $1 } END { print (b > a ? n * (NR - 1) / (b - a) : "nan") }'
}

dpmf_speed() {
    local k=$1
    "$dpmf" train set.dpr -k "$k" --epochs "$(epochs_for "$k")" -j "$threads" -o model.safetensors --json --quiet |
        sed -nE 's/.*"event":"done".*"updates_per_second":([0-9.e+]+).*/\1/p'
    rm -f model.safetensors
}

prototype_speed() {
    local k=$1
    "$prototype" --users "$users" --k "$k" --threads "$threads" --solver sgd --epochs "$(epochs_for "$k")" |
        sed -nE 's/.*"solver":"sgd".*"updates_per_second":([0-9.e+]+).*/\1/p'
}

# ---- in turns, and the medians ----------------------------------------------------------------------------

median() {
    tr ' ' '\n' | LC_ALL=C sort -g |
        awk '$1 + 0 > 0 { v[++n] = $1 } END { print (n ? v[int((n + 1) / 2)] : "nan") }'
}
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { if (b + 0 > 0) printf "%.2f", a / b; else printf "-" }'; }
millions() { awk -v a="$1" 'BEGIN { if (a + 0 > 0) printf "%.2f", a / 1e6; else printf "-" }'; }

printf '%s ratings of %s users, %s threads of %s cores, medians of %s, million updates/s\n' \
    "$ratings" "$users" "$threads" "$(nproc)" "$rounds"
printf 'processor: %s\n' "$(sed -nE 's/^model name[[:space:]]*: //p' /proc/cpuinfo | head -n 1)"
"$dpmf" --version
if [[ -n $libmf ]]; then
    printf 'LIBMF: commit %s, %s\n' \
        "$(git -C "$(dirname "$libmf")" rev-parse HEAD 2>/dev/null || echo unknown)" \
        "${LIBMF_BUILD:-build flags unknown (LIBMF_BUILD tells them)}"
fi
printf '%6s %10s %10s %10s %10s %13s\n' k dpmf LIBMF 'x LIBMF' prototype 'x prototype'
for k in ${factors//,/ }; do
    ours=() theirs=() first=()
    for ((round = 0; round < rounds; round++)); do
        ours+=("$(dpmf_speed "$k")")
        [[ -z $libmf ]] || theirs+=("$(libmf_speed "$k")")
        [[ -z $prototype ]] || first+=("$(prototype_speed "$k")")
    done
    a=$(median <<<"${ours[*]}")
    b=$(median <<<"${theirs[*]:-nan}")
    c=$(median <<<"${first[*]:-nan}")
    printf '%6s %10s %10s %10s %10s %13s\n' "$k" "$(millions "$a")" "$(millions "$b")" "$(ratio "$a" "$b")" \
        "$(millions "$c")" "$(ratio "$a" "$c")"
done
