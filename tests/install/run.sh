#!/usr/bin/env bash
# What others build on: the libraries as they are installed. They export what the headers declare
# and what the Debian packages' list of symbols says; pkg-config and CMake find them; an outside
# project of a few lines links with each, and the program of README.md runs. The last line is "N
# passed, N failed[, N skipped]".
#
#     tests/install/run.sh build/dpmf
#     tests/install/run.sh --update build/dpmf    rewrites packaging/debian/libdpmf0.symbols first
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 70
update=""
if [[ $1 == --update ]]; then
    update=yes
    shift
fi
dpmf=$(realpath "$1")
build=$(dirname "$dpmf")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# shellcheck source=tests/verdicts.sh
source tests/verdicts.sh
verdict_log=$work/log

if [[ ! -e $build/libdpmf.so ]] || nm -D "$build/libdpmf.so" | grep -qE '__(asan|tsan|ubsan)_'; then
    echo "no libdpmf.so of its own beside $dpmf"
    skipped=1
    finish
fi

# ---- names ---------------------------------------------------------------------------------------

# exported LIBRARY: its names, each with the version it has
exported() {
    nm -D --defined-only "$1" | awk '{ sub(/@@/, "@", $3); print $2 == "A" ? $3 "@" $3 : $3 }' |
        LC_ALL=C sort
}

declared=$(cat include/*.h | tr "\n" " " | grep -oE "DPMF_API[^;]*;" |
    grep -oE '\bdpmf_[a-z0-9_]+(\(|\[)' | tr -d '([' | LC_ALL=C sort -u)
diff <(echo "$declared") <(exported "$build/libdpmf.so" | sed '/^DPMF_/d; s/@.*//') >"$work/log"
verdict "libdpmf exports other names than its headers declare"

version=$(sed -nE 's/^project\(dpmf VERSION ([0-9.]+).*/\1/p' CMakeLists.txt)
major=${version%%.*}
for name in dpmf dpmf-client; do
    objdump -p "$build/lib$name.so" | grep -qE "SONAME +lib$name\.so\.$major\$"
    verdict "lib$name is not to be linked by lib$name.so.$major"
done

# The policy of CONTRIBUTING.md: one number in four places and, before 1.0, packages that stay
# within a minor version.
minor=${version#*.}
minor=${minor%%.*}
grep -q "^DPMF_$major {" packaging/dpmf.map &&
    grep -q "^DPMF_CLIENT_$major {" packaging/dpmf-client.map
verdict "the version nodes of packaging/*.map are not those of version $major"
grep -q "^Package: libdpmf$major\$" packaging/debian/control
verdict "the Debian package is not called libdpmf$major"
((major > 0)) \
    || [[ $(grep -cE "^libdpmf(-client)?\.so\.0 libdpmf0 #MINVER#, libdpmf0 \(<< \
0\.$((minor + 1))~\)$" "packaging/debian/libdpmf$major.symbols") == 2 ]]
verdict "packages may run with a later minor version, which may have another interface"

# A name that is new in the list gets the version that is being made; one that was there keeps its
# own.
symbols=packaging/debian/libdpmf0.symbols
if [[ -n $update ]]; then
    for name in dpmf-client dpmf; do
        awk -v name="lib$name.so." '/^lib/ { on = index($0, name) == 1 } on && /^[l*]/' "$symbols"
        while read -r symbol; do
            since=$(sed -n "/^lib$name\.so\./,\$p" "$symbols" |
                awk -v name="$symbol" '$1 == name { print $2; exit }')
            echo " $symbol ${since:-$version}"
        done < <(exported "$build/lib$name.so")
    done >"$work/symbols"
    cat "$work/symbols" >"$symbols"
fi
for name in dpmf dpmf-client; do
    awk -v name="lib$name.so." '/^lib/ { on = index($0, name) == 1 } on && /^ / { print $1 }' \
        "$symbols" >"$work/listed"
    diff "$work/listed" <(exported "$build/lib$name.so") >"$work/log"
    verdict "$symbols is not what lib$name exports: tests/install/run.sh --update $1 mends it"
done

# ---- installed ---------------------------------------------------------------------------------

prefix=$(sed -nE 's/^CMAKE_INSTALL_PREFIX:[A-Z]+=//p' "$build/CMakeCache.txt")
root=$work/root
DESTDIR=$root cmake --install "$build" >"$work/log" 2>&1
verdict "it cannot be installed"
library=$(dirname "$(find "$root$prefix" -name libdpmf.so)")

missing=0
for file in bin/dpmf include/dpmf.h include/dpmf_client.h include/dpmf_text.h \
    share/man/man1/dpmf.1 share/man/man1/dpmf-train.1 \
    share/bash-completion/completions/dpmf share/zsh/site-functions/_dpmf \
    share/fish/vendor_completions.d/dpmf.fish; do
    [[ -s $root$prefix/$file ]] || { echo "no $file" >>"$work/log"; missing=1; }
done
((missing == 0))
verdict "not everything is installed"

# Ratings for programs to read: three, in a file.
printf 'user,item,rating\nann,dune,5\nann,alien,3\nbob,dune,4\n' >"$work/ratings.csv"
export PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_PATH=$library/pkgconfig
export LD_LIBRARY_PATH=$library
warnings="-std=c11 -Wall -Wextra -Wpedantic -Werror"

# The program that README.md shows, as it is.
awk '/^```c$/ { on = 1; next } /^```$/ { on = 0 } on' README.md >"$work/readme.c"
# shellcheck disable=SC2046,SC2086
"${CC:-cc}" $warnings "$work/readme.c" $(pkg-config --cflags --libs dpmf) \
    -o "$work/readme" 2>"$work/log"
verdict "the program of README.md does not compile with what pkg-config says"
[[ $("$work/readme" "$work/ratings.csv") == "3 ratings" ]]
verdict "the program of README.md says something else"

# shellcheck disable=SC2046,SC2086
"${CC:-cc}" $warnings "$work/readme.c" -I"$root$prefix/include" "$library/libdpmf.a" \
    $(pkg-config --static --libs-only-l dpmf | sed 's/-ldpmf//') -pthread \
    -o "$work/static" 2>"$work/log" &&
    [[ $("$work/static" "$work/ratings.csv") == "3 ratings" ]]
verdict "it does not work when it is linked statically"

# Both libraries in one process: each name is bound to the library it was linked with.
printf '%s\n' '#include <dpmf.h>' \
    'int main(void) { return !dpmf_version() || !dpmf_format_name(0, 0); }' >"$work/both.c"
# shellcheck disable=SC2046,SC2086
"${CC:-cc}" $warnings "$work/both.c" $(pkg-config --cflags --libs dpmf-client dpmf) \
    -o "$work/both" 2>"$work/log" &&
    "$work/both" && nm -D "$work/both" | grep -q 'U dpmf_version@DPMF_CLIENT_0' &&
    nm -D "$work/both" | grep -q 'U dpmf_format_name@DPMF_0'
verdict "the two libraries cannot be told apart in one process"

# ---- what it says it was built from ------------------------------------------------------------

# identity TREE NAME: the header that a build of this tree has
identity() {
    rm -f "$work/$2.h"
    cmake -DSOURCE="$1" -DOUTPUT="$work/$2.h" -DCOMPILER="GNU 1.2" -P packaging/build_identity.cmake
}
tree=$work/another-place
mkdir -p "$tree/packaging"
cp -R CMakeLists.txt include lib "$tree"
sum=$(find CMakeLists.txt include lib -name '*.[ch]' -o -name CMakeLists.txt |
    LC_ALL=C sort | xargs sha256sum | sha256sum)
identity "$PWD" here && identity "$tree" there &&
    [[ $(grep -c "SOURCES \"${sum%% *}\"" "$work/here.h") == 1 ]] &&
    diff <(grep SOURCES "$work/here.h") <(grep SOURCES "$work/there.h") >"$work/log" &&
    grep -q 'COMMIT "unknown"' "$work/there.h" && grep -q 'COMPILER "GNU 1.2"' "$work/there.h"
verdict "the same tree in another place has another identity, or not the hash that anyone can \
compute"
echo 0123456789abcdef0123456789abcdef01234567 >"$tree/packaging/commit.txt"
echo "/* changed */" >>"$tree/lib/base/error.c"
identity "$tree" changed && grep -q 'COMMIT "0123456789abcdef0123456789abcdef01234567"' \
        "$work/changed.h" &&
    ! grep -q "${sum%% *}" "$work/changed.h"
verdict "an archive's commit is not taken, or changed sources have the same hash"
grep -aq "${sum%% *}" "$build/libdpmf.so"
verdict "the library that was built does not name its own sources"

# ---- an outside project ------------------------------------------------------------------------

# outside NAME TARGET HEADER [VERSION]: three lines of CMake beside a program, configured, built and
# run
outside() {
    local folder=$work/outside-$1
    mkdir -p "$folder"
    printf '%s\n' "#include <$3>" '#include <stdio.h>' \
        'int main(void) { return puts(dpmf_version()) < 0; }' >"$folder/outside.c"
    cat >"$folder/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.16)
project(outside C)
find_package(dpmf ${4:-} REQUIRED)
add_executable(outside outside.c)
target_link_libraries(outside $2)
END
    cmake -S "$folder" -B "$folder/build" -DCMAKE_PREFIX_PATH="$root$prefix" >"$work/log" 2>&1 &&
        cmake --build "$folder/build" >>"$work/log" 2>&1 &&
        [[ $("$folder/build/outside") == "$version" ]]
}
outside whole dpmf::dpmf dpmf.h "${version%.*}"
verdict "an outside project does not link with dpmf::dpmf"
outside client dpmf::client dpmf_client.h
verdict "an outside project does not link with dpmf::client"
objdump -p "$work/outside-client/build/outside" | grep NEEDED | grep -q 'libdpmf-client' &&
    ! objdump -p "$work/outside-client/build/outside" | grep NEEDED | grep -q 'libdpmf\.so'
verdict "a client needs the whole library"
! outside later dpmf::dpmf dpmf.h "$major.99" && grep -q 'with requested version' "$work/log"
verdict "a version that is not there is found"

# ---- without the page's compiler ---------------------------------------------------------------

cmake -S . -B "$work/without" -DDPMF_WASM_CLANG="$(command -v false)" \
    >"$work/log" 2>&1 &&
    grep -q 'Without the page: it needs WebAssembly' "$work/log" &&
    ! grep -rq DPMF_PAGE_FILE "$work/without/CMakeFiles"
verdict "the page's compiler is needed for the library, or its absence is not mentioned"
! cmake -S . -B "$work/insisting" -DDPMF_WEB=ON -DDPMF_WASM_CLANG="$(command -v false)" \
    >"$work/log" 2>&1 &&
    grep -q 'the page needs WebAssembly' "$work/log"
verdict "a page that was asked for is left out"

finish
