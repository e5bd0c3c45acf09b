#!/usr/bin/env bash
# What is written down to be copied works: the examples in the headers' comments and the ladder of
# examples/ are compiled and run, C and Python say the same, everything public has its comment, and
# the manual that is made of it all holds together. The last line is "N passed, N failed[, N
# skipped]".
#
#     tests/examples/run.sh build/dpmf
#
# docs/python.md and the docstrings are run by python/tests/test_docs.py.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 70
tree=$PWD
dpmf=$(realpath "$1")
build=$(dirname "$dpmf")
python=/usr/bin/python3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# shellcheck source=tests/verdicts.sh
source tests/verdicts.sh
verdict_log=$work/log
export PYTHONDONTWRITEBYTECODE=1
unset PYTHONPATH PYTHONHOME

if [[ ! -e $build/libdpmf.so ]] || nm -D "$build/libdpmf.so" | grep -qE '__(asan|tsan|ubsan)_'; then
    echo "no libdpmf.so of its own beside $dpmf"
    skipped=1
    finish
fi
if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null; then
    echo "no Python 3.9"
    skipped=1
    finish
fi

# ---- what they work on: made-up ratings, a model and a release -----------------------------------

mkdir "$work/data" "$work/programs"
cd "$work/data" || exit 70
export XDG_STATE_HOME=$work/state
"$dpmf" synth --users 1500 --items 120 --ratings 45000 --rank 3 --seed 4 \
    --catalogue-out titles.csv -q -o made-up.dpr &&
    echo '121,"Open Next Week (2031)"' >>titles.csv && # the list is not made from the ratings
    "$dpmf" export made-up.dpr --csv - -q >ratings.csv && head -n 500 ratings.csv >new.csv &&
    "$dpmf" import ratings.csv --like 4 -q -o likes.dpr &&
    "$dpmf" export likes.dpr --csv - -q >plays.csv &&
    "$dpmf" train ratings.csv -k 8 --deterministic -q -o model.safetensors &&
    "$dpmf" ledger init -q ledger &&
    "$dpmf" train ratings.csv --epsilon 8 --delta 1e-4 --rating-range 1:5 --catalogue titles.csv \
    --ledger ledger \
        --population tests -q -o release.safetensors >"$work/log" 2>&1
verdict "there is nothing to work on"
cd "$tree" || exit 70

# compile SOURCE NAME LIBRARY
compile() {
    "${CC:-cc}" -std=c11 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -Iinclude "$1" \
        -L"$build" \
        -Wl,-rpath,"$build" -l"$3" -o "$work/programs/$2" 2>"$work/log"
}
# run NAME ARGUMENTS...: in the folder of the data; what it says is kept
run() {
    (cd "$work/data" && "$work/programs/$1" "${@:2}") >"$work/$1.out" 2>"$work/log" &&
        [[ -s $work/$1.out ]]
}

# ---- the headers' examples -----------------------------------------------------------------------

"$python" scripts/api_docs.py --examples "$work/header"
verdict "the headers' examples cannot be found"
for source in "$work"/header/*.c; do
    name=$(basename "$source" .c)
    library=dpmf
    [[ $name == dpmf_client-* ]] && library="dpmf-client"
    compile "$source" "$name" "$library" && run "$name"
    verdict "the example of $name"
done
(($(find "$work/header" -name '*.c' | wc -l) >= 10))
verdict "examples in the headers are not found as such"

# ---- the ladder, in C ----------------------------------------------------------------------------

for source in examples/0*.c; do
    name=$(basename "$source" .c)
    library=dpmf
    [[ $name == 05_at_home ]] && library="dpmf-client"
    compile "$source" "$name" "$library"
    verdict "$source does not compile"
done
run 01_read ratings.csv && grep -qx '1500 users, 120 items, from 1 to 5' "$work/01_read.out"
verdict "01_read: $(cat "$work/01_read.out")"
run 02_train ratings.csv trained.safetensors &&
    grep -qE '^RMSE 0\.[5-9][0-9]* and MAE .* held back$' "$work/02_train.out"
verdict "02_train: $(cat "$work/02_train.out")"
run 03_recommend trained.safetensors most.dpr 42 && [[ $(wc -l <"$work/03_recommend.out") == 5 ]]
verdict "03_recommend"
run 04_private_release ratings.csv titles.csv published.safetensors &&
    grep -qx 'epsilon 2 at delta 1e-05' "$work/04_private_release.out" &&
    grep -q '^verified' "$work/04_private_release.out"
verdict "04_private_release"
# As its head says, in a folder that has the ratings and the titles alone.
mkdir "$work/fresh" && cp "$work/data/ratings.csv" "$work/data/titles.csv" \
    "$work/programs/04_private_release" "$work/fresh" &&
    sed -n '/^ \*\//q; s/^ \*     //p' examples/04_private_release.c |
    grep -v '^cc ' >"$work/fresh/head" &&
    (cd "$work/fresh" && PATH=$build:$PATH "$BASH" -eu head) >"$work/out" 2>"$work/log" &&
    grep -qx 'epsilon 2 at delta 1e-05' "$work/out"
verdict "04_private_release, as its head says"
run 05_at_home release.safetensors 3 5 17 1 8 4 && [[ $(wc -l <"$work/05_at_home.out") == 5 ]]
verdict "05_at_home"
run 06_in_memory memory.safetensors && grep -q '^4 epochs' "$work/06_in_memory.out"
verdict "06_in_memory"
run 07_events plays.csv ranking.safetensors 42 && [[ $(wc -l <"$work/07_events.out") == 6 ]]
verdict "07_events"
(cd "$work/data" && "$work/programs/07_events" ratings.csv refused.safetensors \
    42) >"$work/out" 2>"$work/log"
[[ $? == 1 && ! -s $work/out ]] && grep -q 'declared as events' "$work/log"
verdict "07_events of ratings"

# How they refuse: with a sentence.
(cd "$work/data" && "$work/programs/01_read" no-such-file) >"$work/out" 2>"$work/log"
[[ $? == 1 && ! -s $work/out ]] && grep -q 'no-such-file: ' "$work/log"
verdict "01_read of a file that is not there"
(cd "$work/data" && "$work/programs/03_recommend" trained.safetensors most.dpr \
    nobody) >"$work/out" 2>"$work/log"
[[ $? == 1 && ! -s $work/out ]] && grep -q '^03_recommend: ' "$work/log"
verdict "03_recommend of a user that is not there"

# ---- the ladder, in Python -----------------------------------------------------------------------

# python_run NAME ARGUMENTS...: as `run`, and warnings are errors
python_run() {
    (cd "$work/data" && PYTHONPATH=$work/module "$python" -W error "$tree/examples/$1.py" \
        "${@:2}") \
        >"$work/$1.py.out" 2>"$work/log" && [[ -s $work/$1.py.out ]]
}
same() { diff "$work/$1.out" "$work/$1.py.out" >"$work/log"; }

if "$python" -c 'import numpy, cffi, setuptools' 2>/dev/null; then
    DPMF_PYTHON_BUILD=$work/python DPMF_LIBRARY=$build/libdpmf.a "$python" setup.py \
        -q build >"$work/log" 2>&1 &&
        mv "$work"/python/lib.* "$work/module"
    verdict "the Python package is not built"
    python_run 01_read ratings.csv && same 01_read
    verdict "01_read.py"
    python_run 02_train ratings.csv trained-py.safetensors &&
        grep -qE '^RMSE 0\.[5-9]' "$work/02_train.py.out"
    verdict "02_train.py"
    python_run 03_recommend trained.safetensors most.dpr 42 && same 03_recommend
    verdict "03_recommend.py says something else than 03_recommend.c"
    python_run 04_private_release ratings.csv titles.csv private-py.safetensors &&
        grep -qx 'epsilon 2 at delta 1e-05' "$work/04_private_release.py.out"
    verdict "04_private_release.py"
    rm -f "$work"/fresh/{ledger*,release.safetensors}
    cp examples/04_private_release.py "$work/fresh" &&
        sed -n '2,/^"""$/s/^    //p' examples/04_private_release.py >"$work/fresh/head" &&
        (cd "$work/fresh" && PYTHONPATH=$work/module PATH=$build:$(dirname "$python"):$PATH \
        "$BASH" -eu head) \
            >"$work/out" 2>"$work/log" && grep -qx 'epsilon 2 at delta 1e-05' "$work/out"
    verdict "04_private_release.py, as its head says"
    python_run 05_at_home release.safetensors 3 5 17 1 8 4 && same 05_at_home
    verdict "05_at_home.py says something else than 05_at_home.c"
    python_run 06_in_memory memory-py.safetensors && same 06_in_memory
    verdict "06_in_memory.py says something else than 06_in_memory.c"
    python_run 07_events plays.csv ranking-py.safetensors 42 && same 07_events
    verdict "07_events.py says something else than 07_events.c"
else
    echo "Debian's Python lacks NumPy, cffi or setuptools"
    skipped=$((skipped + 9))
fi
listed=$(grep -oE '\]\([a-z0-9_]+\.(c|py)\)' examples/README.md | tr -d '])(' | LC_ALL=C sort)
diff <(cd examples && ls -- *.c *.py) <(echo "$listed") >"$work/log"
verdict "examples/README.md lists other examples than there are"

# ---- NULL ----------------------------------------------------------------------------------------

"$python" tests/examples/null_calls.py >"$work/null_calls.c" &&
    "${CC:-cc}" -w -Iinclude "$work/null_calls.c" -L"$build" -Wl,-rpath,"$build" -ldpmf \
    -o "$work/null_calls" &&
    (cd "$work/data" && "$work/null_calls") >"$work/log" 2>&1 && tail -n 1 "$work/log" |
    grep -qE '^[1-9][0-9]{2} calls$'
verdict "a function does not take NULL as its comment says: $(tail -n 3 "$work/log")"

# ---- the manual ----------------------------------------------------------------------------------

"$python" scripts/api_docs.py --check >"$work/log"
verdict "not everything that is public has its comment"

# The check itself: something of each kind taken away or made wrong, and it must be noticed.
mkdir -p "$work/copy/python" "$work/copy/lib/base" &&
    cp -r scripts include CMakeLists.txt examples "$work/copy" &&
    cp -r python/src "$work/copy/python" && cp lib/base/error.c "$work/copy/lib/base"
sed -i '/^\/\* Writes a store of synthetic ratings/,/\*\/$/d' "$work/copy/include/dpmf.h"
sed -i '/@param level /d; s/@param stride /@param strides /; /@return the bias$/d' \
    "$work/copy/include/dpmf_client.h"
sed -i 's/@error DPMF_ERR_MODEL_KIND /@error DPMF_ERR_MODEL_KINDS /' \
    "$work/copy/include/dpmf_client.h"
sed -i 's/there is not enough memory/the memory is full/' "$work/copy/lib/base/error.c"
sed -i 's/"""Which of the user.s ratings speak for an item, and how much."""/pass/' \
    "$work/copy/python/src/dpmf/user.py"
"$python" "$work/copy/scripts/api_docs.py" --check >"$work/missed"
[[ $? == 1 ]] && grep -qE 'include/dpmf.h:[0-9]+: dpmf_synth has no comment' "$work/missed" &&
    grep -q 'dpmf_model_interval: level is not described' "$work/missed" &&
    grep -q 'dpmf_model_item_factors: strides is described and is no parameter' "$work/missed" &&
    grep -q 'dpmf_user_bias: what it returns is not described' "$work/missed" &&
    grep -q 'dpmf_model_open: there is no DPMF_ERR_MODEL_KINDS' "$work/missed" &&
    grep -q 'DPMF_ERR_BASE_NO_MEMORY: .there is not enough memory. here, .the memory is full.' \
    "$work/missed" &&
    grep -q 'User.explain has no docstring' "$work/missed" && [[ $(wc -l <"$work/missed") == 10 ]]
verdict "what is not described is not missed: $(cat "$work/missed")"

for n in 1 2; do
    "$python" scripts/api_docs.py --html "$work/html$n" --man "$work/man$n" || break
done >"$work/log" 2>&1
diff -r "$work/html1" "$work/html2" >>"$work/log" && diff -r "$work/man1" "$work/man2" >>"$work/log"
verdict "the manual is not made, or not the same twice"
"$python" tests/examples/check_pages.py "$work/html1" >"$work/log"
verdict "the pages do not hold together"
functions=$({
    nm -D --defined-only "$build/libdpmf.so" | awk '$2 == "T" { sub(/@.*/, "", $3); print $3 }'
    sed -nE 's/^DPMF_DEFAULT\((\w+)\)$/\1_default/p' include/*.h
} | LC_ALL=C sort)
diff <(echo "$functions") <(cd "$work/man1/man3" && printf '%s\n' dpmf_*.3 | sed 's/\.3$//' \
    | LC_ALL=C sort) >"$work/log"
verdict "there is not a man page for every function"
if command -v lexgrog >/dev/null && command -v man >/dev/null; then
    cd "$work/man1" || exit 70
    for page in man3/*.3 python/*.3; do
        if [[ $(head -c 3 "$page") != .so ]]; then
            { LC_ALL=C.UTF-8 MANROFFSEQ='' MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 \
                -Z "$page" >/dev/null; } 2>&1
            lexgrog "$page" >/dev/null || echo "$page: no name for whatis"
        fi
    done >"$work/warned"
    cp "$work/warned" "$work/log"
    [[ ! -s $work/warned ]]
    verdict "man warns about the pages"
    cd "$tree" || exit 70
else
    skipped=$((skipped + 1))
fi
finish
