#!/usr/bin/env bash
# The defaults on sets of ten shapes, beside what costs more: RMSE on 10 % held out (dpmf split,
# seed 1) of damped averages, `dpmf train`, `dpmf tune` and then train, `--solver gibbs --average`,
# and LIBMF where it is installed, tuned on nothing. Processor time of `train`, and of the same with
# the settings it begins with, follows. The shapes are MovieLens 100K and 1M, four sets cut from 1M
# (six ratings a user; few users; a one-sided scale; items with at most 60 ratings), and four
# synthetic ones. Prints a table in Markdown, a row a shape.
#
#     bench/bench_accuracy.sh build/dpmf
#
# DPMF_DATA        the folder with ml-100k and ml-1m; else ../shared/data; shapes made of what is
#                  missing are skipped
# BENCH_PRIVATE    1: afterwards, releases on twelve shapes at six epsilons (private_shapes.py), an
#                  hour or more
# BENCH_SHAPES     the shapes to run, e.g. "ml-100k cold"; all of them without
# LIBMF            mf-train, with mf-predict beside it; else mf-train from the PATH; else a column
#                  less
set -euo pipefail
dpmf=$(realpath "$1")
here=$(realpath "$(dirname "$0")")
data=$(realpath -m "${DPMF_DATA:-$(dirname "$0")/../../shared/data}")
shapes="ml-100k ml-1m sparse few-users one-sided cold-items reviews jokes books square"
shapes=${BENCH_SHAPES:-$shapes}
libmf=${LIBMF:-$(command -v mf-train || true)}
[[ -z $libmf ]] || libmf=$(realpath "$libmf")
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"

# ---- shapes ------------------------------------------------------------------------------------

million() {
    [[ -r $data/ml-1m/ratings.dat.zst ]] || return 1
    [[ -e ml-1m.csv ]] && return
    "$dpmf" import "$data/ml-1m/ratings.dat.zst" -o million.dpr -q
    "$dpmf" export million.dpr --csv - -q >ml-1m.csv
}

# cut_rows PROGRAM SHAPE: the rows of ML-1M that give() prints of those that sample() picks, as
# user,item,rating
cut_rows() {
    awk -F, -v OFS=, 'NR > 1 { n[$1]++; item[$1, n[$1]] = $2; r[$1, n[$1]] = $3 }
        function sample(u, m,   i) {
            for (i = 1; i <= n[u]; i++) if (rand() < m / (n[u] - i + 1)) { give(u, i); m-- }
        }
        '"$1" ml-1m.csv >"$2.csv"
    sed -i '1i user,item,rating' "$2.csv"
    "$dpmf" import "$2.csv" -o "$2.all" -q
}

make_shape() {
    case $1 in
    ml-100k)
        [[ -r $data/ml-100k/u.data ]] && "$dpmf" import "$data/ml-100k/u.data" -o ml-100k.all -q ;;
    ml-1m) million && "$dpmf" import "$data/ml-1m/ratings.dat.zst" -o ml-1m.all -q ;;
    sparse)
        million && cut_rows 'function give(u, i) { print u, item[u, i], r[u, i] }
            END { srand(3); for (u = 1; u <= 6040; u++) sample(u, 6) }' sparse ;;
    few-users)
        million && cut_rows 'function give(u, i) { print u, item[u, i], r[u, i] }
            END { srand(4); for (u = 1; u <= 6040; u++) if (rand() < .05) sample(u, n[u]) }' \
                few-users ;;
    one-sided)
        million && cut_rows 'function give(u, i,   x) {
                x = 10 - .55 * (5 - r[u, i]) ^ 2 - (rand() < .5)
                print u, item[u, i], int((x < 0 ? 0 : x) + .5) }
            END { srand(5); for (u = 1; u <= 6040; u++) sample(u, 4 + int(12 * rand())) }' \
                one-sided ;;
    cold-items)
        million && cut_rows \
            'function give(u, i) { if (c[item[u, i]] <= 60) print u, item[u, i], r[u, i] }
            END { for (k in item) c[item[k]]++; for (u = 1; u <= 6040; u++) sample(u, n[u]) }' \
                cold-items ;;
    reviews)
        "$dpmf" synth --users 20000 --items 300000 --ratings 900000 --rank 6 --noise 1 \
            --top-500 .12 -o reviews.all -q ;;
    jokes)
        "$dpmf" synth --users 6000 --items 100 --ratings 330000 --rank 8 --noise .8 \
            --scale -10:10 --top-500 .999 \
            -o jokes.all -q ;;
    books)
        "$dpmf" synth --users 50000 --items 10000 --ratings 600000 --rank 12 --noise .85 \
            -o books.all -q ;;
    square)
        "$dpmf" synth --users 10000 --items 1000 --ratings 300000 --rank 4 --noise 1 \
            -o square.all -q ;;
    *)
        echo "no shape of the name $1" >&2
        exit 1 ;;
    esac
}

# ---- what is compared --------------------------------------------------------------------------

rmse() {
    "$dpmf" evaluate "$1" test.dpr --json -q |
        python3 -c 'import json, sys; print("%.4f" % json.load(sys.stdin)["rmse"])'
}

# The processor time of a command, in seconds.
seconds_of() {
    local TIMEFORMAT='%U %S'
    { time "$@" >/dev/null 2>&1; } 2>&1 | awk '{ printf "%.2f", $1 + $2 }'
}

# Averages alone: vectors of one number that is never learned.
averages() {
    "$dpmf" train train.dpr -k 1 --epochs 1 --learning-rate 1e-9 --reg 1 -o averages -q
    rmse averages
}

tuned() {
    "$dpmf" tune train.dpr -o tuned --json -q >/dev/null 2>&1
    rmse tuned
}

gibbs() {
    "$dpmf" train train.dpr --solver gibbs --average -o gibbs -q 2>/dev/null
    rmse gibbs
}

peer() {
    { "$dpmf" export train.dpr --csv - -q; "$dpmf" export test.dpr --csv - -q | tail -n +2; } |
        awk -F, -v n="$1" '
        NR == 1 { next }
        !($1 in user) { user[$1] = length(user) } !($2 in item) { item[$2] = length(item) }
        { print user[$1], item[$2], $3 >(NR - 1 <= n ? "train.txt" : "test.txt") }'
    "$libmf" -k 64 -t 15 train.txt libmf.model >/dev/null
    "$(dirname "$libmf")/mf-predict" test.txt libmf.model libmf.out | sed -nE 's/^RMSE = //p'
}

# ---- the table ---------------------------------------------------------------------------------

"$dpmf" --version
printf '%s |%s seconds, train | with fixed settings |\n' \
    '| shape | ratings | averages | train | tune, train | gibbs, averaged' \
    "${libmf:+ LIBMF |}"
printf '|---|---|---|---|---|---|%s---|---|\n' "${libmf:+---|}"
for shape in $shapes; do
    if ! make_shape "$shape"; then
        echo "skipped: $shape, whose ratings are not in $data" >&2
        continue
    fi
    "$dpmf" split "$shape.all" --train train.dpr --test test.dpr --seed 1 -q
    ratings=$("$dpmf" describe train.dpr --json -q |
        python3 -c 'import json, sys; print(json.load(sys.stdin)["ratings"])')
    found=$(seconds_of "$dpmf" train train.dpr -o model -q)
    fixed=$(seconds_of "$dpmf" train train.dpr --no-adapt -o fixed -q)
    printf '| %s | %s | %s | %s | %s | %s |%s %s | %s |\n' "$shape" "$ratings" "$(averages)" \
        "$(rmse model)" "$(tuned)" \
        "$(gibbs)" "${libmf:+ $(peer "$ratings") |}" "$found" "$fixed"
    rm -f "$shape.all" train.txt test.txt
    [[ $shape == ml-1m ]] || rm -f "$shape.csv"
done
[[ -z ${BENCH_PRIVATE:-} ]] || DPMF_DATA=$data python3 "$here/private_shapes.py" "$dpmf"
