#!/usr/bin/env bash
# What new items are worth that `dpmf release extend` places in a release by genre and year, on
# MovieLens 1M, against their having been there from the start. Prints the tables of
# docs/extending.md.
#
#   bench/extended_release.sh DPMF [DATA] [DRAWS]
#
# DATA has ml-1m/ratings.dat.zst, ml-1m/movies.dat and ml-1m-ncf/heldout.csv.zst (default
# ../shared/data). A tenth of the movies are new, those whose number times 7 ends in 3. RMSE: of
# ratings of new items, a tenth of all ratings held out. HR@10: of the held-out items of He et al.
# (2017) that are new, among 99 others. Users' histories have no new items in any row, so that the
# rows of the new items alone differ. Releases are real: noise from the operating system, in a
# ledger of their own; averages over the draws.
set -euo pipefail
dpmf=$(readlink -f "$1")
data=$(readlink -f "${2:-$(dirname "$0")/../../shared/data}")
draws=${3:-5}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

movies=$data/ml-1m/movies.dat
LC_ALL=C awk -F'::' '{ print > ($1 * 7 % 10 == 3 ? "new.dat" : "old.dat") }' "$movies"
LC_ALL=C awk -F'::' \
    'BEGIN { srand(1); print "item,public:group" } { print $1 "," int(2 * rand()) }' \
    "$movies" >nothing.csv
zstd -dcq "$data/ml-1m/ratings.dat.zst" | awk -F'::' 'BEGIN { srand(1) }
    { is_new = $2 * 7 % 10 == 3; line = $1 "," $2 "," $3 }
    rand() < 0.1 { if (is_new) print line > "test.csv"; next }
    { print line > "all.csv"; if (!is_new) print line > "known.csv" }'
zstd -dcq "$data/ml-1m-ncf/heldout.csv.zst" >heldout.csv
awk -F, 'NR == 1 || $2 * 7 % 10 == 3' heldout.csv >candidates.csv
zstd -dcq "$data/ml-1m/ratings.dat.zst" |
    awk -F'::' \
    'BEGIN { while ((getline line < "heldout.csv") > 0) { split(line, f, ",");
        held[f[1] "," f[2]] = 1 } }
                !(($1 "," $2) in held) { line = $1 "," $2 "," $3; print line > "all_events.csv"
                                         if ($2 * 7 % 10 != 3) print line > "known_events.csv" }'
for set in all known test all_events known_events; do
    { echo user,item,rating; cat $set.csv; } >$set.named.csv
    "$dpmf" import $set.named.csv --format csv --on-error skip -o $set.dpr -q
done
"$dpmf" ledger init ledger >/dev/null 2>&1

# make RATINGS CATALOGUE OUT EPSILON GOAL: a release
make_release() {
    "$dpmf" train "$1" --goal "$5" \
        --replace --epsilon "$4" --catalogue "$2" --item-features "$movies" \
        $([[ $5 == rating ]] && echo --rating-range 1:5) --ledger ledger \
        --population "$RANDOM$RANDOM$RANDOM" -o "$3" -q
}

extend() {
    "$dpmf" release extend known.safetensors --catalogue new.dat --item-features "$1" -o "$2" -q
}

# measure GOAL RELEASE: one figure
measure() {
    if [[ $1 == rating ]]; then
        "$dpmf" evaluate "$2" test.dpr --history known.dpr --json -q |
            sed -E 's/.*"rmse":([0-9.]+).*/\1/'
    else
        "$dpmf" evaluate "$2" --candidates candidates.csv --history known_events.dpr --json -q |
            sed -E 's/.*"hr":([0-9.]+).*/\1/'
    fi
}

# table GOAL ALL KNOWN
table() {
    local goal=$1 epsilon i
    echo "| epsilon | 1 | 5 | 20 |"
    echo "|---|---|---|---|"
    for epsilon in 1 5 20; do
        for ((i = 0; i < draws; i++)); do
            make_release "$2" "$movies" all.safetensors "$epsilon" "$goal"
            make_release "$3" old.dat known.safetensors "$epsilon" "$goal"
            extend "$movies" extended.safetensors
            extend nothing.csv average.safetensors
            echo "$epsilon $(measure "$goal" average.safetensors) $(measure "$goal" \
                extended.safetensors) $(measure "$goal" all.safetensors)"
        done
    done | awk '{ n[$1]++; for (i = 2; i <= 4; i++) sum[$1, i] += $i }
        END { name[2] = "placed at the average"; name[3] = "placed by genre and year";
            name[4] = "there from the start"
              for (i = 2; i <= 4; i++) { printf "| %s |", name[i]
                  m = split("1 5 20", e, " "); for (j = 1; j <= m; j++) 
                      printf " %.3f |", sum[e[j], i] / n[e[j]]; print "" } }'
}

echo "RMSE of new items, $(($(wc -l <test.csv))) ratings"
table rating all.dpr known.dpr
echo
echo "HR@10 of new items, $(($(wc -l <candidates.csv) - 1)) people"
table ranking all_events.dpr known_events.dpr
