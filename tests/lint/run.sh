#!/usr/bin/env bash
# Tests of the tree's own tools: every rule of scripts/include_law.sh is broken once in a scratch
# tree and must be caught, and what is allowed must pass; the package list must be well-formed.
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$PWD

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

passed=0
failed=0

ok() { passed=$((passed + 1)); }
bad() {
    failed=$((failed + 1))
    printf 'failed: %s\n' "$1"
    sed 's/^/  /' "$scratch/out"
}

# A small lawful tree.
begin() {
    rm -rf "$scratch/tree"
    mkdir -p "$scratch"/tree/{include,programs/{cli,verbs},tests/unit} \
        "$scratch"/tree/lib/{base,store,ratings,recommend}
    cd "$scratch/tree"
    echo 'extern int dpmf;' >include/dpmf.h
    printf '#include "dpmf.h"\n' >lib/base/error.h
    printf '#include "base/error.h"\n#include "dpmf.h"\n' >lib/store/store.h
    printf '%s\n' '#include "base/error.h"' '#include "store/store.h"' \
        '/* printf() and exit() in a comment,' ' * abort() too */' 'char *s = "exit(1)";' \
        >lib/ratings/import.c
    printf '#include "dpmf.h"\n#include "cli/options.h"\n#include <stdio.h>\n' >programs/main.c
    printf '#include "dpmf.h"\n' >programs/cli/options.h
    printf '#include "cli/options.h"\n' >programs/verbs/command_import.c
    printf '#include "store/store.h"\n' >tests/unit/test_store.c
}

# catches WHAT PATTERN: the law must fail, and its output must hold the pattern.
law=$root/scripts/include_law.sh
catches() {
    if "$law" "${@:3}" "$scratch/tree" >"$scratch/out" 2>&1; then
        bad "$1: not caught"
    elif ! grep -qE -- "$2" "$scratch/out"; then
        bad "$1: caught, but not as /$2/"
    else
        ok
    fi
}

passes() {
    if "$root/scripts/include_law.sh" "${@:2}" "$scratch/tree" >"$scratch/out" 2>&1; then
        ok
    else
        bad "$1"
    fi
}

begin
passes "a lawful tree"

begin
echo '#include "store/store.h"' >>lib/base/error.h
catches "base includes store" 'lib/base/error.h:2: .*lib/base may not include lib/store'

begin
echo '  #  include "ratings/import.h"' >lib/store/store_reader.c
touch lib/ratings/import.h
catches "an odd but valid include line" 'store_reader.c:1: .*may not include lib/ratings'

begin
echo '#include "store/store.h"' >lib/recommend/top_n.c
catches "recommend includes store" 'may not include lib/store'

begin
printf '#include "dpmf.h"\n' >lib/recommend/top_n.c
catches "a permission that nobody uses" 'nothing in lib/recommend includes lib/base'

begin
law=$scratch/law_with_a_circle.sh
sed 's#^lib/base .*#lib/base store#' "$root/scripts/include_law.sh" >"$law"
chmod +x "$law"
catches "two folders that need each other" 'tsort: .*loop'
law=$root/scripts/include_law.sh

begin
mkdir lib/mechanisms lib/random
touch lib/random/{secure_random,exact_gaussian}.h
echo '#include "random/secure_random.h"' >lib/mechanisms/gram.c
catches "a mechanism that draws noise" 'lib/mechanisms/gram.c:1:.*secure_random'
rm lib/mechanisms/gram.c
echo '#include "random/exact_gaussian.h"' >lib/mechanisms/posterior_sampler.h
catches "posterior drawing what only noisy_sum may" 'posterior_sampler.h:1:.*exact_gaussian'

begin
for ((i = 0; i < 45; i++)); do touch "lib/base/part_$i.h"; done
catches "a room of too many files" 'lib/base: 46 files'
mkdir lib/base/parts
mv lib/base/part_0.h lib/base/parts
passes "a subfolder is a room of its own"
for room in programs/cli/.h python/src/dpmf/.py web/script/.js; do
    begin
    mkdir -p "${room%/*}"
    for ((i = 0; i < 46; i++)); do touch "${room%/*}/part_$i${room##*/}"; done
    catches "too many files in ${room%/*}" "${room%/*}: 4[67] files"
done

begin
echo '#include "error.h"' >lib/base/number.c
catches "an include without its folder" 'there is no lib/error.h'

begin
echo '#include "../base/error.h"' >lib/store/store_reader.c
catches "dots" 'no dots'

begin
echo '#include "base/error.h"' >>programs/main.c
catches "a program includes lib/" 'there is no programs/base/error.h'

begin
touch programs/verbs/describe_model.h
echo '#include "verbs/describe_model.h"' >>programs/cli/options.h
catches "the command line includes a verb" 'programs/cli may not include programs/verbs'

begin
printf '#include "dpmf.h"\n' >programs/verbs/command_import.c
catches "a permission of programs/ that nobody uses" 'programs/verbs includes programs/cli'

begin
mkdir programs/surprise
touch programs/surprise/surprise.c
catches "a room of programs/ without a law" 'does not know the folder programs/surprise'

begin
mkdir lib/surprise
echo '#include "dpmf.h"' >lib/surprise/surprise.c
catches "a folder without a law" 'does not know the folder lib/surprise'

for call in 'printf("x");' 'fprintf(f, "x");' 'puts("x");' 'exit(1);' 'abort ();' \
    'f = stderr;' 'perror("x");' 'vprintf(f, a);' 'rand();' '/* fine */ exit(2); // fine'; do
    begin
    printf 'int a;\n/* %s */\n%s\n' 'printf' "$call" >lib/base/number.c
    catches "lib/ calls $call" '^  lib/base/number.c:3:'
done

begin
echo 'int n = snprintf(text, 3, "printf(1)"), exit_status, do_abort();' >lib/base/number.c
passes "names that only look like it"

begin
cat >lib/base/number.c <<'END'
/* "--memory" */
char c = '"'; /* --memory */ char *s = "give it --memory 2GiB";
END
catches "a string of lib/ that names an option" '^  lib/base/number.c:2:"give it --memory'

begin
printf 'int x;\n' >programs/verbs/command_ledger.c
printf 'char *s = "see dpmf ledger show";\nchar *t = "dpmf ledger: a name";\n' >lib/base/number.c
catches "a string of lib/ that names a command" '^  lib/base/number.c:1:"see dpmf ledger show'

begin
cat >lib/base/number.c <<'END'
char *s = "give it {memory 2GiB}, a--b or -- c"; int i = --s; /* --memory
"--x" */
END
echo 'char *s = "--memory";' >>programs/main.c
passes "settings, and dashes that are no option"

begin
echo 'int x;' >lib/store/error.h
catches "two files of one name" 'lib/base/error.h lib/store/error.h'

begin
echo 'add_compile_options(-march=native)' >CMakeLists.txt
catches "-march=native" 'CMakeLists.txt:1:'

begin
echo '# never -march=native' >CMakeLists.txt
passes "-march=native in a comment"

begin
printf '/* %s: later */\n' TODO >lib/base/number.c
catches "something unfinished" 'number.c:1:'

begin
echo 'long n = sysconf(_SC_LEVEL1_DCACHE_SIZE);' >tests/unit/test_shape.c
catches "a unit test that reads the machine's caches" 'tests/unit/test_shape.c:1:'

begin
echo 'int code = host_caches_read(&caches, NULL);' >tests/unit/test_shape.c
catches "a unit test that asks for them" 'tests/unit/test_shape.c:1:'

begin
echo 'unsetenv("DPMF_CACHES");' >tests/unit/test_shape.c
catches "a unit test that takes the fixed ones away" 'tests/unit/test_shape.c:1:'

begin
mkdir -p tests/failure
echo 'long n = sysconf(_SC_LEVEL2_CACHE_SIZE);' >tests/failure/test_shape.c
catches "a failure test that reads them" 'tests/failure/test_shape.c:1:'

begin
echo 'long n = sysconf(_SC_PAGESIZE);' >lib/store/store_reader.c
catches "another place that knows the size of a page" 'lib/store/store_reader.c:1:'

begin
echo 'const char *path = "/sys/devices/system/cpu/cpu0/cache";' >lib/store/store_reader.c
catches "another place that knows the machine" 'lib/store/store_reader.c:1:'

for file in lib/store/store_reader.c programs/verbs/command_split.c; do
    begin
    echo 'void f(void) { clock_gettime(CLOCK_MONOTONIC, &now); }' >$file
    catches "another clock in $file" "$file:1:"
    begin
    echo 'const char *place = getenv("TMPDIR");' >$file
    catches "another place for temporary files in $file" "$file:1:"
done

# What is looked for in object files needs a compiler, whichever there is.
compiler=$(command -v gcc || command -v clang || true)
compile() {
    mkdir -p "build/CMakeFiles/dpmf_objects.dir/$(dirname "$1")"
    "$compiler" -Iinclude -Ilib -Iprograms -O1 -fPIC -c "$1" \
        -o "build/CMakeFiles/dpmf_objects.dir/$1.o"
}

# Calls through the public header, where no include shows them.
called_through_header() { # called_through_header CALLER CALLED
    begin
    mkdir -p "$(dirname "$1")" "$(dirname "$2")"
    printf '%s\n' '#include "base/error.h"' '#include "store/store.h"' \
        'int dpmf_answer(void) { return 42; }' >"$2"
    printf '%s\n' '#include "base/error.h"' 'int dpmf_answer(void), ask(void);' \
        'int ask(void) { return dpmf_answer(); }' >"$1"
    compile "$1"
    compile "$2"
}
called_through_header lib/store/store_reader.c lib/ratings/answer.c
catches "store calls ratings" \
    'lib/store/store_reader.c: dpmf_answer: lib/store may not call lib/ratings' --objects build
rm lib/store/store_reader.c
passes "the same, of a file that is gone" --objects build

# What a room of programs/ calls, wherever it is declared.
begin
echo 'int verb_import, verbs;' >>programs/verbs/command_import.c
echo 'extern int verb_import, verbs; int *list(void); int *list(void) { return &verbs; }' \
    >programs/cli/options.c
compile programs/verbs/command_import.c
compile programs/cli/options.c
passes "the command line needs the list of verbs" --objects build
echo 'int *import(void); int *import(void) { return &verb_import; }' >>programs/cli/options.c
compile programs/cli/options.c
catches "and no verb by itself" \
    'options.c: verb_import: programs/cli may not call programs/verbs' --objects build
begin
echo 'int store_open(void); int store_open(void) { return 42; }' >>lib/store/store_reader.c
echo 'int store_open(void), import(void); int import(void) { return store_open(); }' \
    >>programs/verbs/command_import.c
compile lib/store/store_reader.c
compile programs/verbs/command_import.c
catches "a verb calls what no public header declares" \
    'store_open: programs/verbs may not call lib/store' --objects build

called_through_header lib/ratings/store_open.c lib/cluster/cluster.c
passes "ratings calls cluster, as it may" --objects build
echo 'int ask(void) { return 42; }' >lib/ratings/store_open.c
compile lib/ratings/store_open.c
catches "a permission to call that nobody uses" 'nothing in lib/ratings calls lib/cluster' \
    --objects build
touch lib/cluster/cluster.h
echo '#include "cluster/cluster.h"' >lib/ratings/store_open.c
catches "ratings includes what it may only call" 'lib/ratings may not include lib/cluster'
for data in 'static int counter;' 'int counter = 3;' '_Thread_local int counter;'; do
    begin
    printf '%s\nint f(void) { return counter++; }\n' "$data" >lib/base/number.c
    compile lib/base/number.c
    catches "mutable data: $data" 'lib/base/number.c.o: counter' --objects build
done

begin
printf '%s\n' 'static const char *const name[] = {"a", "b"};' 'const int two = 2;' \
    'const char *f(int i);' 'const char *f(int i) { return name[i]; }' >lib/base/number.c
compile lib/base/number.c
passes "constants, relocated ones too" --objects build

begin
mkdir build
catches "no objects where some should be" 'no object files' --objects build

# packages.txt: package, known purpose, a reason; every package once.
cd "$root"
if awk '/^(#|$)/ { next }
    BEGIN {
        one = "(build|test|long|browser|db|mpi|paper|deb|test-deb|lint|bench|coverage"
        one = one "|windows|wheel-aarch64)"
    }
    NF < 3 || $2 !~ "^" one "(," one ")*$" || seen[$1]++ { print; bad = 1 }
    END { exit bad }' packages.txt >"$scratch/out"; then
    ok
else
    bad "packages.txt has odd lines"
fi

# scripts/install_packages.sh, with a dpkg-query that knows what is in $scratch/installed and an
# apt-get that puts names there, but only after an update.
mkdir "$scratch/bin"
cat >"$scratch/bin/dpkg-query" <<'END'
#!/bin/sh
sed 's/^/ii  /' "$SCRATCH/installed"
END
cat >"$scratch/bin/apt-get" <<'END'
#!/bin/bash
while [[ $1 == -* ]]; do
    if [[ $1 == -o ]]; then shift; fi
    shift
done
verb=$1
echo "apt-get $*" >>"$SCRATCH/calls"
shift 2>/dev/null
if [[ $verb == update ]]; then touch "$SCRATCH/updated"; exit; fi
[[ -e $SCRATCH/updated && ! -e $SCRATCH/offline ]] || exit 100
for name in "$@"; do
    if [[ $name != -* ]]; then echo "$name" >>"$SCRATCH/installed"; fi
done
END
printf '#!/bin/sh\necho 0\n' >"$scratch/bin/id" # root
chmod +x "$scratch"/bin/*

installs() {
    env -u NO_INSTALL SCRATCH="$scratch" PATH="$scratch/bin:$PATH" "$@" >"$scratch/out" 2>&1
}
refuses() { ! installs "$@"; }
machine() {
    rm -f "$scratch"/{calls,updated,offline}
    : >"$scratch/calls"
    printf '%s\n' make cmake gcc libc6-dev zlib1g-dev libzstd-dev libxxhash-dev libmicrohttpd-dev \
        libsqlite3-dev libpq-dev clang lld wasi-libc \
        libclang-rt-14-dev-wasm32 >"$scratch/installed"
}
expect() {
    if "${@:2}"; then ok; else bad "$1"; fi
}
script=scripts/install_packages.sh

machine
installs $script build || bad "install: nothing to do"
expect "install: silent and idle when all is there" test ! -s "$scratch/out" -a ! \
    -s "$scratch/calls"

machine
expect "install: works on a machine without package lists" installs $script build test
expect "install: says what" grep -q '  libcmocka-dev  *test  *the unit tests' "$scratch/out"
expect "install: updated the lists" grep -q '^apt-get update' "$scratch/calls"
expect "install: it is there now" grep -q '^zsh$' "$scratch/installed"
: >"$scratch/calls"
expect "install: and then nothing more" installs $script build test
expect "install: no call for nothing" test ! -s "$scratch/calls"

machine
expect "install: a package of several purposes" installs $script build bench
expect "install: it is named" grep -q '  python3  *test,bench[a-z,]*  *' "$scratch/out"

machine
touch "$scratch/offline"
expect "install: goes on without what only tests need" installs $script build test
expect "install: names the command" grep -q 'apt-get install .*libcmocka-dev' "$scratch/out"
sed -i '/^cmake$/d' "$scratch/installed"
expect "install: fails without what the build needs" refuses $script build

machine
expect "NO_INSTALL: goes on" installs env NO_INSTALL=1 $script build test
expect "NO_INSTALL: names what is missing" grep -q 'libcmocka-dev' "$scratch/out"
expect "NO_INSTALL: installs nothing" test ! -s "$scratch/calls"
sed -i '/^gcc$/d' "$scratch/installed"
expect "NO_INSTALL: fails without a compiler" refuses env NO_INSTALL=1 $script build
expect "--check: fails too" refuses $script --check build
expect "--check: tells the command" grep -q '^To install: apt-get install .*gcc' "$scratch/out"
expect "--check: installs nothing" test ! -s "$scratch/calls"

# Where the compiler may change arithmetic, what the privacy proofs are about does not compile:
# every file that computes in the rooms of the proofs, the noise, and the small systems that
# contributions are made with.
proven=(lib/random/exact_gaussian.c lib/numerics/cholesky.c lib/numerics/symmetric_eigen.c)
for source in lib/{statement,ledger,privacy,mechanisms,mechanisms/*,release}/*.c; do
    [[ $source != lib/ledger/ledger_lock.c ]] || continue # its only number is the time
    if grep -q '\<double\>' "$source"; then proven+=("$source"); fi
done
compiles() {
    "${CC:-cc}" -std=gnu11 -fsyntax-only -DDPMF_VERSION='"0"' -Iinclude \
        -Ilib "$@" >"$scratch/out" 2>&1
}
refuses_arithmetic() { # refuses_arithmetic OPTION: every one of the files by itself
    local source
    for source in "${proven[@]}"; do
        if compiles "$1" "$source"; then echo "$source compiles" >"$scratch/out"; return 1; fi
        grep -q 'void the privacy proofs' "$scratch/out" || return 1
    done
}
expect "arithmetic: as it is, it compiles" compiles "${proven[@]}"
expect "arithmetic: -ffast-math is refused" refuses_arithmetic -ffast-math
expect "arithmetic: and so is a part of it" refuses_arithmetic -ffinite-math-only

# The tour names every file of lib/ and programs/, in the part of its folder.
tour=$root/scripts/architecture_check.sh
expect "the tour: names every file" "$tour" "$root"
begin
printf '%s\n' '### `lib/base/`' '`error`' '### `lib/store/`: pack' '`store.h`' \
    '### `lib/ratings/`' '`imp*.c`' '### `programs/`' '`main.c`' '### `programs/cli/`' \
    '`options`' '### `programs/verbs/`' '`command_*`' >ARCHITECTURE.md
expect "the tour: a small one" "$tour" .
touch lib/base/store.h
not_toured() { ! "$tour" . >"$scratch/out" && grep -q '^lib/base/store.h: ' "$scratch/out"; }
expect "the tour: a file that only another folder's part names" not_toured
rm lib/base/store.h
mkdir -p web/script python/src/dpmf
touch web/script/stars.js python/src/dpmf/model.py
not_named() { ! "$tour" . >"$scratch/out" && grep -q "^$1: " "$scratch/out"; }
expect "the tour: a script of the page that it does not name" not_named web/script/stars.js
expect "the tour: a Python module that it does not name" not_named python/src/dpmf/model.py
printf '%s\n' '### `web/script/`' '`stars.js`' '### `python/src/dpmf/`' '`model.py`' \
    >>ARCHITECTURE.md
expect "the tour: both named" "$tour" .
rm -r web python
printf '## The include law\n| base | store | |\n' >>ARCHITECTURE.md
old_law() { ! "$tour" . >"$scratch/out" && grep -q 'lacks: | base | nothing | |' "$scratch/out"; }
expect "the tour: a table that is not the law's" old_law
cd "$root"

# Prose: words of ours, and lines that are too long; misspelt words are codespell's to know.
begin
prose() {
    mkdir -p "$scratch/bin"
    printf '#!/bin/sh\nexit 0\n' >"$scratch/bin/codespell"
    chmod +x "$scratch/bin/codespell"
    PATH=$scratch/bin:$PATH "$root/scripts/prose_check.sh" "${1:-$scratch/tree}" \
        >"$scratch/out" 2>&1
}
finds() { ! prose && grep -q "$1" "$scratch/out"; }
expect "prose: a small tree" prose
echo '/* The rating in the mean. */' >>lib/base/error.h
expect "prose: a word of ours" finds 'average'
begin
echo 'int n; /* of the rows */' >>lib/base/error.h
expect "prose: a comment that does not stand alone" finds 'stand alone'
begin
words=$(printf 'word %.0s' {1..25})
for comment in "lib/base/long.h /* $words */" "tests/long.sh # $words" "tests/long.py # $words"; do
    echo "${comment#* }" >"${comment%% *}"
    expect "prose: a long line in ${comment%% *}" finds "^${comment%% *}:1:"
    rm "${comment%% *}"
done
printf "# %0100d\n" 1 >tests/long.sh
expect "prose: a row of data" prose
cd "$root"
expect "prose: this tree" prose "$root"

printf '%d passed, %d failed\n' "$passed" "$failed"
((failed == 0))
