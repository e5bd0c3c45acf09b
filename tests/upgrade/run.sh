#!/usr/bin/env bash
# Files that earlier versions wrote, a folder a version, read by this one: with the same results as
# then, or refused with the way out. The last line is "N passed, N failed[, N skipped]".
#
#     tests/upgrade/run.sh build/dpmf
set -uo pipefail
cd "$(dirname "$0")" || exit 70
dpmf=$(realpath "$OLDPWD/$1" 2>/dev/null || realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# shellcheck source=tests/verdicts.sh
source ../verdicts.sh
verdict_log=$work/log
export LC_ALL=C.UTF-8 DPMF_KERNELS=ref XDG_STATE_HOME=$work/state

# errors_of RATINGS PREDICTIONS: rmse, mae and n as evaluate reports them; both in the same order
errors_of() {
    paste -d, <(sed -E 's/.*"prediction":([^,}]+).*/\1/' "$2") <(tail -n +2 "$1") | awk -F, '
        { e = $1 - $4; squares += e * e; sizes += e < 0 ? -e : e }
        END {
            printf "{\"rmse\":%.17g,\"mae\":%.17g,", sqrt(squares / NR), sizes / NR
            printf "\"n\":%d}\n", NR
        }'
}

# same_errors EXPECTED GOT [DIFFERENCE]: rmse, mae and n of two reports of evaluate, to twelve
# digits or up to a relative difference
same_errors() {
    /usr/bin/python3 - "$@" <<'END'
import json, sys
was, now = (json.load(open(name)) for name in sys.argv[1:3])
most = float(sys.argv[3]) if len(sys.argv) > 3 else 1e-12
assert was["n"] == now["n"], (was, now)
assert all(abs(was[k] - now[k]) <= most * was[k] for k in ("rmse", "mae")), (was, now)
END
}

# says TEXT COMMAND...: that the command works, and its messages have the text
says() {
    local text=$1
    shift
    "$@" >"$work/out" 2>"$work/log" && grep -qF -- "$text" "$work/log"
}

# refuses STATUS TEXT COMMAND...
refuses() {
    local status=$1 text=$2
    shift 2
    "$@" >"$work/out" 2>"$work/log"
    [[ $? == "$status" ]] && grep -qF -- "$text" "$work/log"
}

check_ratings() {
    local from
    for from in store.dpr shards; do
        "$dpmf" export "$from" --csv - 2>"$work/log" | sort |
            cmp - <(sort ratings.csv) >>"$work/log" 2>&1
        verdict "$version: $from does not hold its ratings"
        "$dpmf" import -q "$from" -o "$work/new.dpr" >"$work/log" 2>&1 &&
            "$dpmf" export "$work/new.dpr" --csv - 2>"$work/log" | sort |
            cmp - <(sort ratings.csv) >>"$work/log" 2>&1
        verdict "$version: $from cannot be imported into a store of this version"
        "$dpmf" train -q "$from" -o "$work/m.safetensors" -k 2 --epochs 1 >"$work/log" 2>&1
        verdict "$version: $from cannot be trained on"
    done
    refuses 6 "import the ratings again" "$dpmf" train store.dpr -o "$work/r.safetensors" \
        --epsilon 1 --rating-range 1:5 \
        --catalogue catalogue.csv --population films --ledger "$work/ledger"
    verdict "$version: a store that does not say how it was read is not refused by private runs, \
with the way out"
}

check_checkpoints() {
    local model
    says "without a checksum" "$dpmf" recommend model.safetensors --user u03 -n 5 &&
        cmp -s <(tail -n +2 expected/recommend) <(tail -n +2 "$work/out")
    verdict "$version: model.safetensors recommends something else, or without the warning"
    for model in model sampler; do
        says "without a checksum" "$dpmf" evaluate "$model.safetensors" ratings.csv --json &&
            same_errors "expected/evaluate_$model" "$work/out" >>"$work/log" 2>&1
        verdict "$version: $model.safetensors has another error"
        says "without a checksum" "$dpmf" describe "$model.safetensors"
        verdict "$version: $model.safetensors cannot be described"
    done
    says "without a checksum" "$dpmf" export model.safetensors --npy "$work/vectors" --not-private
    verdict "$version: model.safetensors cannot be exported"
    says "without a checksum" "$dpmf" train store.dpr -o "$work/m.safetensors" -k 4 --epochs 8 \
        --seed 1 \
        --resume snapshot.safetensors
    verdict "$version: a run cannot be resumed"
    "$dpmf" describe "$work/m.safetensors" >"$work/log" 2>&1 && ! grep -q "checksum" "$work/log"
    verdict "$version: a resumed run's model has no checksum of its own"
}

check_release() {
    "$dpmf" privacy verify release.safetensors >"$work/log" 2>&1
    verdict "$version: its release does not verify"
    "$dpmf" recommend release.safetensors --ratings mine.csv -n 5 >"$work/out" 2>"$work/log" &&
        cmp -s <(tail -n +2 expected/home) <(tail -n +2 "$work/out")
    verdict "$version: its release recommends something else"
    # Of the very ratings that people are fitted to, which evaluate refuses by now. It rounded to
    # single precision, which predictions do not.
    "$dpmf" predict release.safetensors ratings.csv --history store.dpr \
        --json >"$work/predictions" 2>"$work/log" &&
        errors_of ratings.csv "$work/predictions" >"$work/out" &&
        same_errors expected/evaluate_release "$work/out" 1e-9 >>"$work/log" 2>&1
    verdict "$version: its release has another error"
    "$dpmf" export release.safetensors --web "$work/page" --catalogue \
        catalogue.csv >"$work/log" 2>&1
    verdict "$version: no page can be made of its release"
}

# A page holds all that it needs, the module included: what may be asked of a later version is its
# release.
check_page() {
    "$dpmf" privacy verify page/release.safetensors >"$work/log" 2>&1
    verdict "$version: the release beside its page does not verify"
    mkdir "$work/old_page"
    cp page/release.safetensors page/statement.txt "$work/old_page"
    gunzip -c page/index.html.gz >"$work/old_page/index.html"
    refuses 4 "not empty" "$dpmf" export release.safetensors --web "$work/old_page" \
        --catalogue catalogue.csv
    verdict "$version: its page is written over without a word"
    grep -q "The film number 7" "$work/old_page/index.html"
    verdict "$version: its page has no titles"
}

# Carried on, under the budget it had.
check_ledger() {
    cp ledger ledger.lock "$work"
    "$dpmf" ledger show --ledger "$work/ledger" --json >"$work/out" 2>"$work/log" &&
        grep -q '"population":"films".*"mu":1.66[67]' "$work/out"
    verdict "$version: its ledger cannot be read"
    "$dpmf" import -q ratings.csv --format csv --on-error skip -o \
        "$work/named.dpr" >"$work/log" 2>&1
    "$dpmf" train -q "$work/named.dpr" -o "$work/next.safetensors" --epsilon 1 --rating-range 1:5 \
        --catalogue catalogue.csv --population films --declared-users 40 \
        --ledger "$work/ledger" >"$work/log" 2>&1
    verdict "$version: its ledger cannot be carried on"
    "$dpmf" ledger show --ledger "$work/ledger" >"$work/log" 2>&1 &&
        grep -q "2 releases" "$work/log" &&
        grep -q "budget epsilon 20" "$work/log"
    verdict "$version: its ledger forgot its release or its budget"
    refuses 6 "budget" "$dpmf" train "$work/named.dpr" -o "$work/last.safetensors" --epsilon 19 \
        --rating-range 1:5 \
        --catalogue catalogue.csv --population films --declared-users 40 --ledger "$work/ledger"
    verdict "$version: the budget of its ledger does not hold"
}

home=$PWD
for version in *.*.*/; do
    version=${version%/}
    cd "$home/$version" || exit 70
    check_ratings
    check_checkpoints
    check_release
    check_page
    check_ledger
    rm -rf "${work:?}"/*
done
finish
