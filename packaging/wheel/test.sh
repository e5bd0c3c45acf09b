#!/usr/bin/env bash
# Tries the wheel of build.sh in a clean virtual environment for every Python from 3.9 on that is
# here: on the PATH, of pyenv, and of uv. First with nothing but the wheel and what it asks for:
# first_steps.py. Then with each library that people have ratings in, as new as its wheels for that
# Python are: inputs.py, whose table is left in OUT/inputs.md. The last line is "N passed, N
# failed[, N skipped]".
#
#     packaging/wheel/test.sh [OUT]     OUT is build/wheel; `make test-wheel` calls it after
#                                       build.sh
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 70
out=$(realpath "${1:-build/wheel}")
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore
passed=0 failed=0 skipped=0
unset PYTHONPATH PYTHONHOME

wheel=$(ls "$out"/dist/dpmf-*manylinux*.whl)
[[ -f $wheel ]] || { echo "there is no wheel in $out/dist: run packaging/wheel/build.sh" &&
    exit 1; }

# what_it_needs FILE: the libraries that it is linked with, but for those of the C library
what_it_needs() {
    readelf -d "$1" | sed -n 's/.*Shared library: \[\(.*\)\]/\1/p' |
        grep -vE '^(libc|libm|libpthread|libdl|librt|ld-linux.*)\.so' || true
}
rm -rf "$out/unpacked" && mkdir "$out/unpacked" &&
    (cd "$out/unpacked" && "$out/tools/bin/python" -m zipfile -e "$wheel" .)
for file in "$out"/unpacked/dpmf/_native*.so "$out"/unpacked/dpmf/bin/dpmf; do
    needs=$(what_it_needs "$file")
    if [[ -z $needs ]]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1)) && echo "FAILED: ${file##*/} needs $needs"
    fi
done

libraries=(scipy pandas polars pyarrow duckdb adbc-driver-sqlite scikit-learn)
# add_libraries PYTHON LOG: all at once or, where one has no wheel for this Python, those that do
add_libraries() {
    local one
    "$1" -m pip install -q --only-binary :all: "${libraries[@]}" >>"$2" 2>&1 && return
    for one in "${libraries[@]}"; do
        "$1" -m pip install -q --only-binary :all: "$one" >>"$2" 2>&1 || true
    done
}

rm -f "$out"/inputs-*.tsv "$out/inputs.md"
declare -A tried
candidates=$(
    for name in python3 python3.{9..20}; do type -aP "$name"; done
    ls -d "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.*/bin/python3 \
        "${XDG_DATA_HOME:-$HOME/.local/share}"/uv/python/cpython-3.*/bin/python3 2>/dev/null
)
for python in $candidates; do
    version=$("$python" -c \
        'import sys
if sys.version_info >= (3, 9): print("%d.%d" % sys.version_info[:2])' 2>/dev/null)
    [[ $version == 3.* && -z ${tried[$version]:-} ]] || continue
    tried[$version]=1
    place=$out/clean-$version
    rm -rf "$place"
    if ! "$python" -m venv "$place" >"$out/venv.log" 2>&1; then
        skipped=$((skipped + 1)) && echo "skipped: $python makes no virtual environments" &&
            rm -rf "$place"
        continue
    fi
    if "$place/bin/pip" install -q "$wheel" >"$out/pip-$version.log" 2>&1 &&
        (cd "$place" && bin/python -W error::DeprecationWarning \
        "$OLDPWD/packaging/wheel/first_steps.py") 2>"$out/first-$version.log"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: Python $version"
        tail -n 5 "$out/pip-$version.log" "$out/first-$version.log" | sed 's/^/    /'
    fi
    add_libraries "$place/bin/python" "$out/pip-$version.log"
    (cd "$place" && bin/python "$OLDPWD/packaging/wheel/inputs.py") \
        >"$out/inputs-$version.tsv" 2>"$out/inputs-$version.log"
    read -r yes wrong none < <(awk -F '\t' '
        $2 == "yes" { yes++ } $2 ~ /^FAILED/ { wrong++ } $2 == "no library" { none++ }
        END { print yes + 0, wrong + 0, none + 0 }' "$out/inputs-$version.tsv")
    ((yes > 0)) || wrong=$((wrong + 1))
    passed=$((passed + yes)) failed=$((failed + wrong)) skipped=$((skipped + none))
    echo "Python $version: $yes kinds of input"
    grep -E "FAILED|no library" "$out/inputs-$version.tsv" | sed 's/^/    /'
    ((yes > 0)) || tail -n 5 "$out/inputs-$version.log" | sed 's/^/    /'
    rm -rf "$place"
done
mapfile -t tables < <(ls -v "$out"/inputs-*.tsv 2>/dev/null)
((${#tables[@]} == 0)) ||
    "$out/tools/bin/python" packaging/wheel/inputs_table.py "${tables[@]}" >"$out/inputs.md"
echo "$passed passed, $failed failed$( ((skipped == 0)) || echo ", $skipped skipped")"
((failed == 0))
