#!/usr/bin/env bash
# Builds the wheel for Linux on aarch64 with Debian's cross compiler, from the source distribution
# of build.sh, and tries it with Debian's Python for arm64 under qemu: what it needs, the first
# steps of a new user, and the program. The last line is "N passed, N failed".
#
#     packaging/wheel/aarch64.sh [OUT]     OUT is build/wheel; `make test-wheel-aarch64` calls it
#                                          after build.sh
#
# Libraries and Python come from Debian's arm64 packages, which are unpacked below OUT and not
# installed; NumPy and cffi from PyPI. Where a tool is missing, or either cannot be reached, it says
# so and ends with 77.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 70
mkdir -p "${1:-build/wheel}"
out=$(realpath "${1:-build/wheel}")
tree=$PWD
here=$out/aarch64 root=$out/aarch64/root
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore
# shellcheck source=tests/verdicts.sh
source tests/verdicts.sh

for tool in aarch64-linux-gnu-gcc qemu-aarch64 apt-get dpkg-deb; do
    command -v $tool >/dev/null ||
        { echo "skipped: there is no $tool (apt-get install gcc-aarch64-linux-gnu qemu-user)" &&
            exit 77; }
done
source_distribution=$(ls "$out"/dist/dpmf-*.tar.gz 2>/dev/null)
[[ -f $source_distribution && -x $out/tools/bin/auditwheel ]] ||
    { echo "skipped: packaging/wheel/build.sh made no source distribution" && exit 77; }

# What the wheel is built with, and then what Python needs to run.
packages=(zlib1g-dev libzstd-dev libxxhash-dev libsqlite3-dev libpq-dev libmicrohttpd-dev
    libc6 libgcc-s1 libstdc++6 zlib1g libexpat1 libssl3 libffi8 libsqlite3-0 libbz2-1.0 liblzma5
    libcrypt1 libuuid1 python3.11-minimal libpython3.11-minimal libpython3.11-stdlib)

# apt's own lists of packages for arm64, beside those of the system.
apt_arm64() {
    apt-get -q -o APT::Architecture=arm64 -o APT::Architectures=arm64 \
        -o Dir::State::lists="$here/apt/lists" -o Dir::State::status=/dev/null \
        -o Dir::Cache="$here/apt/cache" -o APT::Sandbox::User=root "$@"
}

make_root() {
    rm -rf "$here/apt" "$here/packages" "$root.new"
    mkdir -p "$here"/apt/lists/partial "$here"/apt/cache/archives/partial "$here/packages" \
        "$root.new" || return
    apt_arm64 update && (cd "$here/packages" && apt_arm64 download "${packages[@]}") || return
    local one
    for one in "$here"/packages/*.deb; do dpkg-deb -x "$one" "$root.new" || return; done
    "$out/tools/bin/pip" download -q --dest "$here/packages" --only-binary :all: \
        --python-version 3.11 --platform manylinux_2_28_aarch64 --platform manylinux2014_aarch64 \
        numpy cffi || return
    mkdir -p "$root.new/site" || return
    for one in "$here"/packages/*.whl; do
        "$out/tools/bin/python" -m zipfile -e "$one" "$root.new/site" || return
    done
    mv "$root.new" "$root"
}
if [[ ! -d $root ]]; then
    if ! make_root >"$here.log" 2>&1; then
        echo "skipped: packages for arm64 cannot be had ($(tail -n 1 "$here.log"))"
        exit 77
    fi
fi

# The compiler finds static libraries where it is told to look for parts of its own.
make_wheel() {
    rm -rf "$here/raw" "$here/work" "$out"/dist/dpmf-*aarch64.whl
    mkdir -p "$here/raw" "$here/work" || return
    env -u DPMF_LIBRARY -u DPMF_PYTHON_BUILD TMPDIR="$here/work" DPMF_STATIC=1 \
        DPMF_AARCH64_ROOT="$root" CMAKE_TOOLCHAIN_FILE="$tree/packaging/wheel/aarch64.cmake" \
        CC="aarch64-linux-gnu-gcc -B$root/usr/lib/aarch64-linux-gnu/" \
        STRIP=aarch64-linux-gnu-strip _PYTHON_HOST_PLATFORM=linux-aarch64 \
        "$out/tools/bin/pip" wheel -q --no-build-isolation --no-deps --wheel-dir "$here/raw" \
        "$source_distribution" || return
    PATH=$out/tools/bin:$PATH auditwheel repair --wheel-dir "$out/dist" "$here"/raw/dpmf-*.whl
}
echo "a wheel for aarch64"
verdict_log=$here/wheel.log
make_wheel >"$verdict_log" 2>&1
verdict "it is not built"
verdict_log=

wheel=$(ls "$out"/dist/dpmf-*manylinux*aarch64.whl 2>/dev/null)
[[ -f $wheel ]] || finish
rm -rf "$here/site" && mkdir "$here/site"
"$out/tools/bin/python" -m zipfile -e "$wheel" "$here/site"
chmod +x "$here/site/dpmf/bin/dpmf"
for file in "$here"/site/dpmf/_native*.so "$here/site/dpmf/bin/dpmf"; do
    needs=$(aarch64-linux-gnu-readelf -d "$file" |
        sed -n 's/.*Shared library: \[\(.*\)\]/\1/p' |
        grep -vE '^(libc|libm|libpthread|libdl|librt|ld-linux.*)\.so')
    [[ -z $needs ]]
    verdict "${file##*/} needs $needs"
done
emulated() { # emulated PROGRAM ARGUMENTS...
    timeout 900 qemu-aarch64 -L "$root" "$@"
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
verdict_log=$here/first.log
PYTHONPATH=$here/site:$root/site TMPDIR=$work XDG_STATE_HOME=$work PYTHONDONTWRITEBYTECODE=1 \
    emulated "$root/usr/bin/python3.11" packaging/wheel/first_steps.py --no-commands \
    >"$here/first.txt" 2>"$verdict_log"
verdict "the first steps fail"
cat "$here/first.txt"
verdict_log=
said=$(emulated "$here/site/dpmf/bin/dpmf" version)
[[ $said == dpmf\ * ]]
verdict "the program does not run"
emulated "$here/site/dpmf/bin/dpmf" synth --users 300 --items 40 --ratings 6000 -q \
    -o "$work/r.dpr" &&
    emulated "$here/site/dpmf/bin/dpmf" train "$work/r.dpr" -q -o "$work/m.safetensors" &&
    emulated "$here/site/dpmf/bin/dpmf" evaluate "$work/m.safetensors" "$work/r.dpr" -q \
        >"$work/found.txt"
verdict "the program does not train"
finish
