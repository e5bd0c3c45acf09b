#!/usr/bin/env bash
# Builds the client library for Windows on x86-64 with mingw-w64, and tries it under wine: what it
# needs and offers, the example on a release that is made here, a name that is not ASCII, and files
# that are missing, cut or no models. The last line is "N passed, N failed[, N skipped]".
#
#     packaging/windows/client.sh [DPMF]     `make windows-client` calls it, with build/dpmf
#
# The libraries are left in build/windows/install. Where there is no mingw-w64 it says so and ends
# with 77; without wine the library is built and not run, which is said too.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 70
dpmf=$(realpath "${1:-build/dpmf}")
tool=x86_64-w64-mingw32
out=$PWD/build/windows
# shellcheck source=tests/verdicts.sh
source tests/verdicts.sh

if ! command -v $tool-gcc >/dev/null; then
    echo "skipped: there is no $tool-gcc (apt-get install gcc-mingw-w64-x86-64-posix)"
    exit 77
fi
header=$(find /usr/include /usr/local/include -maxdepth 1 -name xxhash.h | head -n 1)
mkdir -p "$out/include"
# By itself: the other headers beside it are of this system.
cp "$header" "$out/include/" || exit 1
verdict_log=$out/build.log
{ cmake -S . -B "$out" -DCMAKE_TOOLCHAIN_FILE=packaging/windows/toolchain.cmake \
    -DDPMF_CLIENT_ONLY=ON -DDPMF_WERROR=ON "-Dxxhash_INCLUDE=$out/include" \
    "-DCMAKE_INSTALL_PREFIX=$out/install" &&
    cmake --build "$out" -j "$(nproc)" && cmake --install "$out"; } >"$verdict_log" 2>&1
verdict "it does not compile"
verdict_log=

library=$out/install/bin/libdpmf-client.dll
[[ -s $library && -s $out/install/lib/libdpmf-client.a ]]
verdict "it is not installed"
needed=$($tool-objdump -p "$library" | awk '/DLL Name:/ { print tolower($3) }' |
    grep -vxE 'kernel32\.dll|msvcrt\.dll')
[[ -z $needed ]]
verdict "it needs more than Windows has: $needed"
diff <(tr '\n' ' ' <include/dpmf_client.h | grep -oE 'DPMF_API[^;]*;' | grep -oE 'dpmf_[a-z_]+\(' |
    tr -d '(' | LC_ALL=C sort -u) \
    <($tool-objdump -p "$library" | grep -oE ' dpmf_[a-z_]+$' | tr -d ' ' | LC_ALL=C sort -u)
verdict "it exports other functions than dpmf_client.h declares"

wine=$(command -v wine64 || command -v wine || ls /usr/lib/wine/wine64 2>/dev/null)
if [[ -z $wine ]]; then
    echo "skipped: it was not run, as there is no wine (apt-get install wine64)"
    skipped=$((skipped + 1))
    finish
fi

work=$(mktemp -d)
export WINEPREFIX=$work/wine WINEDEBUG=-all DISPLAY= WINEDLLOVERRIDES="mscoree,mshtml="
stop() {
    local server
    server=$(command -v wineserver || ls /usr/lib/wine/wineserver64 2>/dev/null)
    [[ -z $server ]] || "$server" -k
    rm -rf "$work"
}
trap stop EXIT
cp "$library" "$out"/home_client_*.exe "$work"
$tool-gcc -std=c11 -Wall -Wextra -Werror -Iinclude packaging/windows/try_client.c \
    "$out/install/lib/libdpmf-client.dll.a" -o "$work/try_client.exe"
verdict "a program does not compile with the library"
cd "$work" || exit 70
run() { # run PROGRAM.exe ARGUMENTS...: without the ends of lines that Windows has
    timeout 300 "$wine" "$@" 2>err.txt | tr -d '\r'
    return "${PIPESTATUS[0]}"
}

"$dpmf" synth --users 3000 --items 120 --ratings 90000 --rank 3 --seed 4 --catalogue-out items.csv \
    -q -o r.dpr &&
    "$dpmf" train r.dpr --epsilon 8 --delta 1e-4 --rating-range 1:5 --catalogue items.csv \
        --ledger ledger --insecure-noise-seed 1 -o release.safetensors >train.log 2>&1
verdict "no release could be made: $(tail -n 3 train.log)"
run home_client_static.exe release.safetensors 3:5 17:1 8:4 40:2.5 8:3.5 >static.txt
verdict "the example fails: $(cat err.txt)"
run home_client_shared.exe release.safetensors 3:5 17:1 8:4 40:2.5 8:3.5 >shared.txt
verdict "the example fails with the DLL: $(cat err.txt)"
cmp static.txt shared.txt
verdict "the two libraries do not agree"
printf 'item,rating\n3,5\n17,1\n40,2.5\n8,3.5\n' >mine.csv
"$dpmf" recommend release.safetensors --ratings mine.csv -n 10 --json >told.json 2>told.err
verdict "dpmf recommends nothing: $(cat told.err)"
diff <(awk '{ print $2, $1 }' shared.txt) \
    <(paste -d' ' <(grep -oE '"item":"[^"]*"' told.json | cut -d'"' -f4) \
        <(grep -oE '"score":[0-9.e+-]+' told.json | cut -d: -f2 | xargs printf '%.4f\n'))
verdict "dpmf recommends other items, or gives other scores"

cp release.safetensors für-Łukasz.safetensors
head -c 500 release.safetensors >cut.safetensors
mkdir folder.safetensors
run try_client.exe >tried.txt
verdict "a file is not opened, or not refused, as it should be: $(cat tried.txt)"
finish
