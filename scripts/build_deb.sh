#!/usr/bin/env bash
# Builds the Debian packages: `make deb`. They and their source package go to build/deb, with
# SHA256SUMS.
#
#   scripts/build_deb.sh [OUTPUT [SCRATCH]]
#
# The tree is exported first, with packaging/debian as its debian/, so nothing is written beside the
# sources. Names, times and modes of the export depend on the tree alone, and the time that
# everything bears is the changelog's: the same tree gives the same packages, byte for byte,
# wherever and whenever it is built. No step needs the network.
set -euo pipefail
cd "$(dirname "$0")/.."
output=${1:-build/deb}
scratch=${2:-build/deb-scratch}

version=$(sed -nE 's/^project\(dpmf VERSION ([0-9.]+).*/\1/p' CMakeLists.txt)
packaged=$(dpkg-parsechangelog -l packaging/debian/changelog -S Version)
if [[ $version != "$packaged" ]]; then
    echo "CMakeLists.txt has version $version, packaging/debian/changelog has $packaged" >&2
    echo "  add an entry for $version to the changelog" >&2
    exit 1
fi
SOURCE_DATE_EPOCH=$(dpkg-parsechangelog -l packaging/debian/changelog -S Timestamp)
export SOURCE_DATE_EPOCH LC_ALL=C.UTF-8 TZ=UTC
umask 022

# ---- the tree, as a source package has it --------------------------------------------------------

# What git tracks or would; without git, everything but what is built.
list_files() {
    if [[ -e .git ]] && command -v git >/dev/null; then
        git ls-files -z --cached --others --exclude-standard
    else
        find . -mindepth 1 \( -path ./build -o -name .git -o -name __pycache__ \) -prune -o \
            \( -type f -o -type l \) -printf '%P\0'
    fi
}

tree=$scratch/dpmf-$version
rm -rf "$scratch"
mkdir -p "$tree" "$output"
scratch=$(realpath "$scratch") output=$(realpath "$output") tree=$(realpath "$tree")
while IFS= read -r -d '' file; do # a file that is gone is still listed until git is told
    if [[ -e $file && $file != .ci/* && $file != .git* ]]; then printf '%s\0' "$file"; fi
done < <(list_files) | tar --null --files-from=- -cf - | tar -xf - -C "$tree"
mv "$tree/packaging/debian" "$tree/debian"
# The commit that releases made with the packages name, where the tree is exactly that.
if [[ -e .git ]] && command -v git >/dev/null && [[ -z $(git status --porcelain) ]]; then
    git rev-parse HEAD >"$tree/packaging/commit.txt"
fi
find "$tree" -name '__pycache__' -prune -exec rm -rf {} +
chmod -R u=rwX,go=rX "$tree"
find "$tree" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +

# ---- the packages --------------------------------------------------------------------------------

log=$output/build.log
jobs=${JOBS:-$(nproc)}
# Neither flags of whoever calls this, nor a compiler cache, which writes paths of its own into what
# it compiles.
unset MAKEFLAGS MAKELEVEL MFLAGS CFLAGS CXXFLAGS CPPFLAGS LDFLAGS CC CMAKE_C_COMPILER_LAUNCHER \
    CMAKE_GENERATOR
echo "building the packages; $log has what it says"
if ! (cd "$tree" && dpkg-buildpackage --build=full --no-sign --jobs="$jobs" \
    --no-pre-clean) >"$log" 2>&1; then
    tail -n 30 "$log" >&2
    echo "the packages could not be built: $log has it all" >&2
    exit 1
fi

find "$output" -maxdepth 1 -type f ! -name build.log -delete
find "$scratch" -maxdepth 1 -type f -exec mv {} "$output/" \;
(cd "$output" && sha256sum -- *.deb *.dsc *.tar.xz >SHA256SUMS)
rm -rf "$scratch"
(cd "$output" && ls -- *.deb)
