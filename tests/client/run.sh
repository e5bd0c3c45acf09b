#!/usr/bin/env bash
# The client library as others get it: installed, found by pkg-config, with no header but its own,
# needing nothing but the C library; what it exports is what the header declares; it knows no
# threads and none of the rest of dpmf; its files compile for a browser; and what an example built
# on it says is what dpmf says. The last line is "N passed, N failed[, N skipped]".
#
#     tests/client/run.sh build/dpmf
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 70
tree=$PWD
dpmf=$(realpath "$1")
build=$(dirname "$dpmf")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# shellcheck source=tests/verdicts.sh
source tests/verdicts.sh

# A build with sanitizers has no library that stands alone.
if [[ ! -e $build/libdpmf-client.so ]] || nm -D "$build/libdpmf-client.so" |
    grep -qE '__(asan|tsan|ubsan)_'; then
    echo "no libdpmf-client.so of its own beside $dpmf"
    skipped=1
    finish
fi

# ---- the libraries -------------------------------------------------------------------------------

shared=$build/libdpmf-client.so static=$build/libdpmf-client.a

needed=$(objdump -p "$shared" | awk '$1 == "NEEDED" { print $2 }' | grep -vE '^(libc|libm)\.so' ||
    true)
[[ -z $needed ]] || echo "needs $needed"
[[ -z $needed ]]
verdict "it needs more than the C library"

objdump -p "$shared" | grep -qE 'SONAME +libdpmf-client\.so\.[0-9]+$'
verdict "it has no name to be linked by"

declared=$(grep -oE 'DPMF_API[^;]*;' <(tr '\n' ' ' <include/dpmf_client.h) |
    grep -oE 'dpmf_[a-z_]+\(' |
    tr -d '(' | LC_ALL=C sort -u)
exported=$(nm -D --defined-only "$shared" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' |
    LC_ALL=C sort -u)
diff <(echo "$declared") <(echo "$exported")
verdict "it exports other functions than dpmf_client.h declares"

threads=$(nm "$static" 2>/dev/null | grep -E ' U (pthread_|thrd_|fork|flock|socket|connect)' ||
    true)
[[ -z $threads ]] || echo "$threads"
[[ -z $threads ]]
verdict "it uses threads, locks or the network"

others=$(ar t "$static" | grep -E \
    '^(train|store|import|ledger|noisy|accountant|residual|sgd|tiling)' || true)
[[ -z $others ]]
verdict "it holds parts of the rest of dpmf: $others"

undefined=$(nm --undefined-only "$static" 2>/dev/null | awk '/ U / { print $2 }' | LC_ALL=C sort -u)
defined=$(nm --defined-only "$static" 2>/dev/null | awk 'NF == 3 { print $3 }' | LC_ALL=C sort -u)
own=$(comm -23 <(echo "$undefined") <(echo "$defined") |
    grep -E '^(dpmf|error|memory|model|store|train|kernel|privacy)_' || true)
[[ -z $own ]] || echo "$own"
[[ -z $own ]]
verdict "the static library is not whole"

# ---- installed -----------------------------------------------------------------------------------

root=$work/root
prefix=$(sed -nE 's/^CMAKE_INSTALL_PREFIX:[A-Z]+=//p' "$build/CMakeCache.txt")
DESTDIR=$root cmake --install "$build" >"$work/install.log" 2>&1
verdict "it cannot be installed"

export PKG_CONFIG_SYSROOT_DIR=$root
PKG_CONFIG_PATH=$(find "$root$prefix" -name dpmf-client.pc -printf '%h')
export PKG_CONFIG_PATH
flags=$(pkg-config --cflags --libs dpmf-client)
verdict "pkg-config does not find it"
library=$(dirname "$PKG_CONFIG_PATH")

mkdir "$work/alone"
cp examples/home_client.c "$work/alone/"
mkdir "$work/include"
cp "$root$prefix/include/dpmf_client.h" "$work/include/"
warnings="-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror"
# shellcheck disable=SC2086
(cd "$work/alone" && "${CC:-cc}" -std=c11 $warnings home_client.c $flags -o home_client)
verdict "the example does not compile"

# shellcheck disable=SC2086
(cd "$work/alone" && "${CC:-cc}" -std=c11 $warnings -I"$work/include" home_client.c \
    "$library/libdpmf-client.a" -lm -o home_static)
verdict "the example does not compile with dpmf_client.h alone and the static library"

printf '%s\n' '#include <dpmf_client.h>' 'int main() { return dpmf_version()[0] == 0; }' \
    >"$work/alone/plus.cc"
if command -v c++ >/dev/null; then
    # shellcheck disable=SC2086
    c++ -std=c++11 -Wall -Wextra -Wpedantic -Werror "$work/alone/plus.cc" $flags \
        -o "$work/alone/plus"
    verdict "the header is not one for C++"
else
    skipped=$((skipped + 1))
fi

# ---- what it says --------------------------------------------------------------------------------

cd "$work" || exit 70
"$dpmf" synth --users 3000 --items 120 --ratings 90000 --rank 3 --seed 4 \
    --catalogue-out items.csv -q -o r.dpr &&
    "$dpmf" train r.dpr --epsilon 8 --delta 1e-4 --rating-range 1:5 --catalogue items.csv \
    --ledger ledger \
        --insecure-noise-seed 1 -o release.safetensors >train.log 2>&1
verdict "no release could be made: $(tail -n 3 train.log 2>/dev/null)"
[[ -e release.safetensors ]] || finish

# Given twice, the last counts.
pairs=(3:5 17:1 8:4 40:2.5 8:3.5)
printf 'item,rating\n3,5\n17,1\n40,2.5\n8,3.5\n' >mine.csv
export LD_LIBRARY_PATH=$library
./alone/home_client release.safetensors "${pairs[@]}" >shared.txt
verdict "the example fails"
./alone/home_static release.safetensors "${pairs[@]}" >static.txt
verdict "the example fails when it is linked statically"
cmp shared.txt static.txt
verdict "the two libraries do not agree"
"$dpmf" recommend release.safetensors --ratings mine.csv -n 10 --json >told.json 2>told.err
verdict "dpmf recommends nothing: $(cat told.err)"
diff <(awk '{ print $2 }' shared.txt) <(grep -oE '"item":"[^"]*"' told.json | cut -d'"' \
    -f4 | head -10)
verdict "dpmf recommends other items"
diff <(awk '{ print $1 }' shared.txt) \
    <(grep -oE '"score":[0-9.e+-]+' told.json | cut -d: -f2 | head -10 | xargs printf '%.4f\n')
verdict "dpmf gives other scores"

./alone/home_client /dev/null >out.txt 2>err.txt
[[ $? == 1 && ! -s out.txt ]] && grep -q 'not a model' err.txt
verdict "a file that is no release is not refused as it should be"
head -c 500 release.safetensors >cut.safetensors
./alone/home_client cut.safetensors >out.txt 2>err.txt
[[ $? == 1 && ! -s out.txt ]] && grep -q 'cut.safetensors' err.txt
verdict "a release that was cut off is not refused as it should be"
./alone/home_client release.safetensors nothing:5 >out.txt 2>err.txt
[[ $? == 1 && ! -s out.txt ]] && grep -q 'nothing' err.txt
verdict "an item that is not there is not refused as it should be"

# ---- a dense solve, 1,000 users ------------------------------------------------------------------

# dense STORE RELEASE NAME: lists of 1,000 users of a store, by the client library and by NumPy
dense() {
    "$dpmf" export "$1" --csv - -q | tail -n +2 | tr ',' ' ' | cut -d' ' -f1-3 |
        awk '$1 != last { last = $1; n++ } n > 1000 { exit } { print }' >"$work/ratings.txt"
    "$work/client_lists" "$2" <"$work/ratings.txt" >"$work/lists.txt" &&
        "$python" "$tree/tests/client/dense_check.py" "$2" "$work/ratings.txt" "$work/lists.txt"
    verdict "$3: not what a dense solve gives"
}

# shellcheck disable=SC2086
"${CC:-cc}" -std=c11 $warnings "$tree/tests/client/client_lists.c" $flags -lm -o client_lists
verdict "client_lists.c does not compile"
export PYTHONDONTWRITEBYTECODE=1
python=""
for candidate in /usr/bin/python3 python3; do
    "$candidate" -c 'import numpy' 2>/dev/null && python=$candidate && break
done
if [[ -n $python ]]; then
    dense r.dpr release.safetensors "made-up ratings"
    movies=$tree/../shared/data/ml-1m/ratings.dat.zst
    if [[ -n ${DPMF_TEST_LONG:-} && -e $movies ]]; then
        cut -d: -f1 "$(dirname "$movies")/movies.dat" >movies.txt
        "$dpmf" import "$movies" --format movielens --on-error skip -q -o m.dpr &&
            "$dpmf" train m.dpr --epsilon 8 --delta 1e-6 --rating-range 1:5 \
            --catalogue movies.txt --ledger ledger \
                --insecure-noise-seed 1 -q -o movies.safetensors
        verdict "no release of MovieLens 1M could be made"
        dense m.dpr movies.safetensors "MovieLens 1M"
    else
        skipped=$((skipped + 2))
    fi
else
    echo "no NumPy"
    skipped=$((skipped + 3))
fi

# ---- for a browser -------------------------------------------------------------------------------

if clang --target=wasm32-wasi --sysroot=/usr -fsyntax-only -x c \
    - <<<'#include <stdlib.h>' 2>/dev/null; then
    cd "$tree" || exit 70
    mapfile -t sources < <(sed -n '/^set(dpmf_client_sources/,/)/p' CMakeLists.txt | grep \
        -oE 'lib/[a-z0-9_/]+\.c')
    sources+=(lib/recommend/*.c)
    # for_browser FLAGS... -- SOURCES...
    for_browser() {
        local flags=() bad=0
        while [[ $1 != -- ]]; do
            flags+=("$1")
            shift
        done
        for source in "${@:2}"; do
            clang --target=wasm32-wasi --sysroot=/usr "${flags[@]}" -std=gnu11 -O1 -Wall -Wextra \
                -Wconversion -Wshadow \
                -Werror -ffp-contract=off -DDPMF_VERSION='"0"' -Iinclude -Ilib -c "$source" \
                -o "$work/x.o" || bad=1
        done
        return "$bad"
    }
    for_browser -msimd128 -- "${sources[@]}"
    verdict "not all of the client compiles for WebAssembly"
    for_browser -mno-simd128 -- lib/kernels/score_kernels.c lib/kernels/wasm/dot_wasm.c
    verdict "the kernels do not compile for WebAssembly without vectors"
else
    echo "no clang and wasi-libc for WebAssembly"
    skipped=$((skipped + 2))
fi
finish
