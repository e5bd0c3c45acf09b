#!/usr/bin/env bash
# HR@10 and NDCG@10 of private releases of events on MovieLens 1M, by the protocol of He et al.
# (2017): one item of each user among 99 others. Prints the table of docs/goals.md.
#
#   bench/private_ranking.sh DPMF [DATA] [DRAWS]
#
# DATA has ml-1m/ratings.dat.zst, ml-1m/movies.dat and ml-1m-ncf/heldout.csv.zst (default
# ../shared/data). Every rating is an event; the held-out pairs are taken out of training. Releases
# are real: noise from the operating system, each in a ledger of its own.
set -euo pipefail
dpmf=$(readlink -f "$1")
data=$(readlink -f "${2:-$(dirname "$0")/../../shared/data}")
draws=${3:-10}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

zstd -dcq "$data/ml-1m-ncf/heldout.csv.zst" >heldout.csv
awk -F, 'NR > 1 { print $1 "," $2 }' heldout.csv >pairs
zstd -dcq "$data/ml-1m/ratings.dat.zst" |
    awk -F'::' \
    'BEGIN { print "user,item,rating"; while ((getline line < "pairs") > 0) held[line] = 1 }
                !(($1 "," $2) in held) { print $1 "," $2 "," $3 }' >train.csv
"$dpmf" import train.csv --format csv --on-error skip -o train.dpr -q

# measure EPSILON [OPTIONS]: averages over the draws
measure() {
    local epsilon=$1 ledger i
    shift
    for ((i = 0; i < draws; i++)); do
        ledger=$(mktemp -u ledger.XXXXXX)
        "$dpmf" ledger init -q "$ledger"
        "$dpmf" train train.dpr --goal ranking --replace --epsilon "$epsilon" --catalogue \
            "$data/ml-1m/movies.dat" "$@" \
            --ledger "$ledger" -o release.safetensors -q
        "$dpmf" evaluate release.safetensors --candidates heldout.csv --history train.dpr --json -q
    done | awk -F'[:,}]' \
        '{ for (i = 1; i < NF; i++) { if ($i ~ /"hr"/) hr += $(i + 1);
            if ($i ~ /"ndcg"/) ndcg += $(i + 1) } }
                           END { printf " %.3f / %.3f |", hr / NR, ndcg / NR }'
}

echo "| epsilon | 0.5 | 1 | 2 | 5 | 10 | 20 |"
echo "|---|---|---|---|---|---|---|"
for features in "" "--item-features $data/ml-1m/movies.dat"; do
    if [[ -z $features ]]; then printf '| without features |'
    else printf '| with genre and year |'; fi
    for epsilon in 0.5 1 2 5 10 20; do
        # shellcheck disable=SC2086
        measure "$epsilon" $features
    done
    echo
done
