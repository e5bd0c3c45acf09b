#!/usr/bin/env bash
# Compiles all of dpmf for macOS, on Linux, with the C compiler of Zig from PyPI, which has that
# system's headers: library, client library and program, for both processors, without warnings.
# Nothing is run, since there is no macOS here; zlib, zstd, SQLite and libmicrohttpd are there as
# headers alone, and what is linked looks for the first two when it is started. The last line is "N
# passed, N failed".
#
#     packaging/macos/check.sh [OUT]     OUT is build/macos; `make macos-check` calls it
#
# Where PyPI cannot be reached it says so and ends with 77. PYTHON is the Python for the tools
# (python3).
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 70
mkdir -p "${1:-build/macos}"
out=$(realpath "${1:-build/macos}")
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore
export ZIG_GLOBAL_CACHE_DIR=$out/zig ZIG_LOCAL_CACHE_DIR=$out/zig
# shellcheck source=tests/verdicts.sh
source tests/verdicts.sh

if ! "$out/tools/bin/python" -c "import ziglang" >/dev/null 2>&1; then
    rm -rf "$out/tools"
    "${PYTHON:-python3}" -m venv "$out/tools"
    if ! "$out/tools/bin/pip" install -q ziglang >"$out/tools.log" 2>&1; then
        rm -rf "$out/tools"
        echo "skipped: Zig cannot be had from PyPI ($(tail -n 1 "$out/tools.log"))"
        exit 77
    fi
fi

# Headers of libraries, by themselves: the others beside them are of this system.
mkdir -p "$out/include" "$out/bin"
for header in zlib.h zconf.h zstd.h zstd_errors.h xxhash.h sqlite3.h microhttpd.h; do
    found=$(find /usr/include /usr/local/include -maxdepth 2 -name "$header" | head -n 1)
    [[ -n $found ]] || { echo "skipped: there is no $header" && exit 77; }
    cp "$found" "$out/include/" || exit 1
done
tool() { # tool NAME WHAT OPTION: a command of that name, with an option in the end
    printf '#!/bin/sh\nexec %q -m ziglang %s "$@" %s\n' "$out/tools/bin/python" "$2" "$3" \
        >"$out/bin/$1"
    chmod +x "$out/bin/$1"
}
tool ar ar ""
tool ranlib ranlib ""

for processor in aarch64 x86_64; do
    here=$out/$processor
    # without a warning of compilers that are newer than those which the rest is kept free of it for
    tool "cc-$processor" "cc -target $processor-macos" -Wno-enum-float-conversion
    printf '' | "$out/bin/cc-$processor" -x c -c -o "$out/nothing.o" - &&
        rm -f "$out/libnothing.a" && "$out/bin/ar" rcs "$out/libnothing.a" "$out/nothing.o"
    settings=(-DCMAKE_SYSTEM_NAME=Darwin "-DCMAKE_SYSTEM_PROCESSOR=${processor/aarch64/arm64}"
        "-DCMAKE_C_COMPILER=$out/bin/cc-$processor" "-DCMAKE_AR=$out/bin/ar"
        "-DCMAKE_RANLIB=$out/bin/ranlib" -DCMAKE_INSTALL_NAME_TOOL=/bin/true
        "-DCMAKE_SHARED_LINKER_FLAGS=-Wl,-undefined,dynamic_lookup"
        "-DCMAKE_EXE_LINKER_FLAGS=-Wl,-undefined,dynamic_lookup"
        -DDPMF_WERROR=ON -DDPMF_WEB=OFF -DDPMF_POSTGRES=OFF
        "-Dzlib_LIBRARY=$out/libnothing.a" "-Dzstd_LIBRARY=$out/libnothing.a")
    for name in zlib zstd xxhash microhttpd sqlite; do
        settings+=("-D${name}_INCLUDE=$out/include")
    done
    echo "macOS, $processor"
    verdict_log=$out/$processor.log
    cmake -S . -B "$here" "${settings[@]}" >"$verdict_log" 2>&1 &&
        cmake --build "$here" -j "${JOBS:-2}" --target dpmf_static dpmf_shared dpmf_client_shared \
            >>"$verdict_log" 2>&1
    verdict "the libraries are not built"
    cmake --build "$here" -j "${JOBS:-2}" --target dpmf >"$verdict_log" 2>&1
    verdict "the program is not built"
    verdict_log=
    [[ $(head -c 4 "$here/dpmf" | od -An -tx1 | tr -d ' ') == cffaedfe ]]
    verdict "the program is no program of macOS"
done
finish
