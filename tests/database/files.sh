#!/usr/bin/env bash
# Vectors in files and SQLite databases, where it is hard: ids with every odd byte, read back
# exactly or refused before anything is written; and an export that is killed at any moment, which
# leaves nothing half-written under the name that was asked for.
#
#     tests/database/files.sh build/dpmf
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
dpmf=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 70
# shellcheck source=tests/verdicts.sh
. "$here/../verdicts.sh"
verdict_log=$work/stderr

odd() { /usr/bin/python3 -B "$here/odd_ids.py" "$@" 2>>stderr; }

# ---- odd ids -------------------------------------------------------------------------------------

"${CC:-cc}" -shared -fPIC -O1 "$here/../kills/kill_at.c" -o kill_at.so -ldl 2>stderr
verdict "making what kills"
odd make .
for set in all lines; do
    "$dpmf" import -q $set.jsonl $set.csv -o $set.dpr 2>stderr &&
        "$dpmf" train -q $set.dpr -k 3 --epochs 1 -o $set.safetensors 2>>stderr
    verdict "making a model of odd items ($set)"
done
for form in csv sqlite; do
    "$dpmf" export -q all.safetensors --$form odd-$form --not-private --catalogue \
        all.titles 2>stderr && odd $form all odd-$form
    verdict "--$form gives odd ids and titles back exactly"
done
for form in npy libmf; do
    "$dpmf" export -q lines.safetensors --$form odd-$form --not-private 2>stderr &&
        odd $form lines odd-$form
    verdict "--$form gives odd ids back exactly"
    before=$(ls -A)
    "$dpmf" export -q all.safetensors --$form refused --not-private 2>stderr
    [[ $? == 3 && $(ls -A) == "$before" ]] && grep -q 'contains a line break' stderr &&
        grep -q -- '--csv and --sqlite' stderr
    verdict "--$form refuses an id of two lines, and writes nothing"
    KILL_AT=1 LD_PRELOAD=$work/kill_at.so "$dpmf" export -q all.safetensors --$form refused \
        --not-private 2>stderr
    [[ $? == 3 ]]
    verdict "--$form refuses it before it begins"
done

# ---- what is in the way --------------------------------------------------------------------------

echo mine >busy.items.txt
"$dpmf" export -q lines.safetensors --libmf busy --not-private 2>stderr
[[ $? == 4 && $(<busy.items.txt) == mine && ! -e busy ]] &&
    grep -q 'busy.items.txt: it exists already' stderr
verdict "--libmf does not replace a file beside the model either"
for suffix in journal wal; do
    echo unfinished >"open.db-$suffix"
    "$dpmf" export -q lines.safetensors --sqlite open.db --not-private --replace 2>stderr
    [[ $? == 4 && ! -e open.db ]] &&
        grep -q "open.db-$suffix: a database of that name is in use" stderr
    verdict "--sqlite does not go beside a $suffix of another database"
    rm "open.db-$suffix"
done

# ---- killed at any moment ------------------------------------------------------------------------

"$dpmf" synth -q --users 60 --items 40 --ratings 900 --seed 1 -o ratings.dpr 2>stderr &&
    "$dpmf" train -q ratings.dpr -k 8 --epochs 1 --seed 1 --deterministic \
    -o new.safetensors 2>>stderr &&
    "$dpmf" synth -q --users 60 --items 30 --ratings 900 --seed 2 -o ratings.dpr 2>>stderr &&
    "$dpmf" train -q ratings.dpr -k 8 --epochs 1 --seed 2 --deterministic \
    -o old.safetensors 2>>stderr
verdict "making models to export"
export_to() { # export_to FOLDER MODEL FORM [OPTION...]
    env -C "$1" "$dpmf" export -q "../$2.safetensors" "--$3" out --not-private \
        --users "${@:4}" 2>stderr
}
for model in old new; do
    for form in npy csv libmf sqlite; do
        mkdir -p "whole-$form-$model"
        export_to "whole-$form-$model" $model $form
        verdict "exporting $model as $form"
    done
done

# Below PLACE there is nothing of the name, or all of MODEL.
is_all_or_none() { # is_all_or_none PLACE FORM MODEL
    [[ ! -s $1/out ]] || is_all "$1" "$2" "$3"
}
is_all() { # as they are under their names; what has a temporary one is no matter
    diff -r -x '.*' "$1" "whole-$2-$3" >/dev/null
}
# Files are whole, each of them, and where the first is, all are.
is_in_order() { # is_in_order PLACE FORM FIRST
    local file
    while IFS= read -r file; do
        cmp -s "$file" "whole-$2-new/${file#"$1"/}" || return 1
    done < <(find "$1" -type f ! -name '.*')
    [[ ! -e $1/$3 ]] || is_all "$1" "$2" new
}

# Whoever does it again takes away what was left. A folder that has something in it is never written
# to.
do_again() { # do_again FORM PREPARE
    case $1 in
    npy | csv) [[ $2 == empty || -e place/out ]] || export_to place new "$1" || return 1 ;;
    *) export_to place new "$1" --replace || return 1 ;;
    esac
    [[ $2 == empty ]] || { is_all place "$1" new && [[ -z $(find place -name '.*') ]]; }
}

# Kills the export at every n until it is through. try NAME FORM PREPARE JUDGE [OPTION...]; both are
# called with the place.
try() {
    local name=$1 form=$2 prepare=$3 judge=$4 n status wrong="" killed=0
    shift 4
    for ((n = 1; n < 2000; n++)); do
        rm -rf place && mkdir place
        "$prepare" place "$form"
        # bash would tell of each
        { KILL_AT=$n LD_PRELOAD=$work/kill_at.so export_to place new "$form" "$@"; } 2>/dev/null
        status=$?
        ((status == 0)) && break
        [[ $status == 137 ]] || wrong+=" $n (status $status)"
        killed=$((killed + 1))
        "$judge" place "$form" || wrong+=" $n"
        do_again "$form" "$prepare" || wrong+=" $n (again)"
    done
    [[ $status == 0 && $killed -gt 5 && -z $wrong ]] && is_all place "$form" new
    verdict "$name, killed at each of $killed moments: wrong at${wrong:- none}, status $status"
    total=$((total + killed))
}
total=0
nothing() { :; }
empty() { mkdir "$1/out"; }
old() { cp -r "whole-$2-old/." "$1"; }
all_or_none() { is_all_or_none "$1" "$2" new; }
csv_in_order() { is_in_order "$1" csv out/items.csv; }
npy_in_order() { is_in_order "$1" npy out/item_vectors.npy; }
libmf_in_order() { is_in_order "$1" libmf out; }
old_or_new() { is_all "$1" "$2" old || is_all "$1" "$2" new; }
# The rows that are there have their ids beside them.
model_fits() { is_all_or_none "$1" "$2" new || is_all "$1" "$2" old; }

try "--npy" npy nothing all_or_none
try "--csv" csv nothing all_or_none
try "--npy into an empty folder" npy empty npy_in_order
try "--csv into an empty folder" csv empty csv_in_order
try "--libmf" libmf nothing libmf_in_order
try "--libmf --replace" libmf old model_fits --replace
try "--sqlite" sqlite nothing all_or_none
try "--sqlite --replace" sqlite old old_or_new --replace

echo "killed $total times"
finish
