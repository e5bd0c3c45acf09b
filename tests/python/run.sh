#!/usr/bin/env bash
# The Python package, with Debian's Python and packages and no network: a wheel of it is built and
# installed to an empty folder, imported, and tested. The last line is "N passed, N failed[, N
# skipped]".
#
#     tests/python/run.sh build/dpmf
#
# The library is the one beside the program. With DPMF_TEST_LONG set, the ways of building that take
# longer are tried too: with the library built on the way, from a source distribution, and with the
# shared library.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 70
dpmf=$(realpath "$1")
built=$(dirname "$dpmf")
python=/usr/bin/python3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# shellcheck source=tests/verdicts.sh
source tests/verdicts.sh

# step NAME COMMAND...: one test; what it said is shown when it failed.
step() {
    local name=$1
    shift
    if "$@" >"$work/log" 2>&1; then
        passed=$((passed + 1))
        return 0
    fi
    failed=$((failed + 1))
    echo "FAILED: $name"
    tail -n 30 "$work/log" | sed 's/^/    /'
    return 1
}

missing=""
for module in numpy scipy cffi setuptools pip wheel; do
    "$python" -c "import $module" >/dev/null 2>&1 || missing+=" python3-$module"
done
if [[ -n $missing ]]; then
    echo "Debian's Python lacks:$missing"
    skipped=1
    finish
fi

# ---- building and installing ---------------------------------------------------------------------

unset PYTHONPATH PYTHONHOME
export PYTHONDONTWRITEBYTECODE=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INDEX=1 \
    PIP_ROOT_USER_ACTION=ignore
export DPMF_PYTHON_BUILD=$work/build DPMF_LIBRARY=$built/libdpmf.a

# make_wheel FOLDER [SOURCE]: a wheel in it, and installed in FOLDER/installed
make_wheel() {
    "$python" -m pip wheel --no-build-isolation --no-deps --wheel-dir "$1" "${2:-.}" || return
    "$python" -m pip install --no-deps --target "$1/installed" "$1"/dpmf-*-abi3-*.whl
}

# imports FOLDER: what was installed there can be imported from elsewhere, and is of the program's
# version
imports() {
    (
        cd / || exit
        version=$("$python" -I -c \
            "import sys; sys.path.insert(0, '$1/installed'); import dpmf; print(dpmf.__version__)")
        echo "$version"
        [[ "dpmf $version" == "$("$dpmf" --version)" ]]
    )
}

step "a wheel is built and installed" make_wheel "$work/static" || finish
step "it is imported" imports "$work/static"

if [[ -n ${DPMF_TEST_LONG:-} ]]; then
    export DPMF_LIBRARY=$built/libdpmf.so DPMF_PYTHON_BUILD=$work/build-shared
    step "a wheel with the shared library" make_wheel "$work/shared" &&
        step "it is imported" env LD_LIBRARY_PATH="$built" "$BASH" -c "$(declare -f imports); \
            python=$python dpmf=$dpmf; imports $work/shared"
    export DPMF_LIBRARY=$built/libdpmf.a DPMF_PYTHON_BUILD=$work/build-direct
    step "pip install ." "$python" -m pip install --no-build-isolation --no-deps \
        --target "$work/direct/installed" . &&
        step "it is imported" imports "$work/direct"
    unset DPMF_LIBRARY
    export DPMF_PYTHON_BUILD=$work/build-source
    step "a source distribution" "$python" setup.py -q sdist --dist-dir "$work/sdist" &&
        step "a wheel of it, with the library built on the way" make_wheel "$work/source" \
        "$work"/sdist/dpmf-*.tar.gz &&
        step "it is imported" imports "$work/source"
fi

# ---- the tests -----------------------------------------------------------------------------------

DPMF_BINARY=$dpmf PYTHONPATH=$work/static/installed "$python" \
    python/tests/run.py >"$work/tests" 2>&1
last=$(tail -n 1 "$work/tests")
if [[ $last =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed(,\ ([0-9]+)\ skipped)?$ ]]; then
    passed=$((passed + BASH_REMATCH[1]))
    failed=$((failed + BASH_REMATCH[2]))
    skipped=$((skipped + ${BASH_REMATCH[4]:-0}))
    sed '$d' "$work/tests"
else
    cat "$work/tests"
    echo "FAILED: the tests ended without a line of counts"
    failed=$((failed + 1))
fi
finish
