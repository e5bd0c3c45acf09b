#!/usr/bin/env bash
# The Debian packages, as others get them: `make test-deb`. Needs root, for the clean Debian, and
# the machine's own mirror.
#
#   tests/deb/test_packages.sh                        builds them twice, and tests them
#   tests/deb/test_packages.sh --built FOLDER AGAIN   tests what scripts/build_deb.sh has put there
#
# Two builds, the second elsewhere and under other circumstances, are the same bytes. lintian finds
# nothing. In a fresh root made by debootstrap they install with their dependencies, dpmf's demo
# runs, an outside program links, Python imports, the manual is found; and when they are purged,
# nothing of them is left. The last line is "N passed, N failed".
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 70
scratch=build/test-deb
root=$PWD/$scratch/root
passed=0 failed=0

# step NAME COMMAND...: one test; what it said is shown when it failed.
step() {
    local name=$1 begun=$SECONDS
    shift
    if "$@" >"$scratch/log" 2>&1 </dev/null; then
        passed=$((passed + 1))
        printf '%-58s done  (%d s)\n' "$name" $((SECONDS - begun))
    else
        failed=$((failed + 1))
        echo "FAILED: $name"
        tail -n 30 "$scratch/log" | sed 's/^/    /'
        return 1
    fi
}
finish() {
    rm -rf "$root"
    echo "$passed passed, $failed failed"
    ((failed == 0))
    exit
}

mkdir -p "$scratch"
if [[ $(id -u) != 0 ]]; then
    echo "a clean Debian needs root: sudo make test-deb" >&2
    echo "0 passed, 1 failed"
    exit 1
fi

# ---- two builds, one hash ------------------------------------------------------------------------

# The second one is elsewhere, in another time zone and language, and with another umask.
build_again() {
    local elsewhere
    elsewhere=$(mktemp -d)
    (
        umask 077
        export TZ=Asia/Tokyo LANG=de_DE.UTF-8
        scripts/build_deb.sh "$scratch/again" "$elsewhere/some/other/place"
    )
    local status=$?
    rm -rf "$elsewhere"
    return "$status"
}
if [[ ${1:-} == --built ]]; then
    packages=$(realpath "$2") again=$(realpath "$3")
else
    packages=$PWD/build/deb again=$PWD/$scratch/again
    step "the packages are built" scripts/build_deb.sh build/deb || finish
    step "they are built again, elsewhere" build_again || finish
fi
step "both builds are the same, byte for byte" diff "$packages/SHA256SUMS" "$again/SHA256SUMS"
step "the sums are those of the files" env -C "$packages" sha256sum --quiet --check SHA256SUMS

# ---- lintian -------------------------------------------------------------------------------------

# Errors and warnings alike; there are no overrides that could hide any.
check_lintian() {
    lintian --allow-root --fail-on error,warning "$packages"/*.changes
}
step "lintian finds no error and no warning" check_lintian
step "nothing is hidden from lintian" bash -c \
    '! find packaging/debian -name "*lintian-overrides*" | grep .'

# ---- a clean Debian ------------------------------------------------------------------------------

# What this machine's apt installs from: the archive of its own release, and no name of a host in
# this file. shellcheck disable=SC1091
codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
# shellcheck disable=SC2016 # apt's own variables
mirror=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(CREATED_BY)' |
    awk -v release="$codename" '$2 == release && $3 == "Packages" { print $1; exit }')

# inside COMMAND...: in the root, with a process table and mounts of its own that end with it
# shellcheck disable=SC2016 # for the shell inside
inside() {
    unshare --mount --pid --fork env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 \
        HOME=/root \
        DEBIAN_FRONTEND=noninteractive "${proxies[@]}" sh -c \
        'root=$1; shift; mount -t proc proc "$root/proc"; exec chroot "$root" "$@"' sh "$root" "$@"
}
proxies=()
for name in http_proxy https_proxy no_proxy; do
    [[ -n ${!name:-} ]] && proxies+=("$name=${!name}")
done

make_root() {
    rm -rf "$root"
    mkdir -p "$root" "$scratch/downloads"
    debootstrap --variant=minbase --cache-dir="$PWD/$scratch/downloads" "$codename" "$root" \
        "$mirror" || return
    mkdir -p "$root/packages"
    cp "$packages"/*.deb "$root/packages/"
    rm -f "$root"/packages/*-dbgsym_*
    cp /etc/resolv.conf "$root/etc/resolv.conf"
    rm -f "$root/etc/apt/sources.list"
    cp -r /etc/apt/sources.list.d "$root/etc/apt/"
    [[ ! -e /etc/apt/sources.list ]] || cp /etc/apt/sources.list "$root/etc/apt/"
    find "$root/etc/apt/sources.list.d" -type f ! -name '*.list' ! -name '*.sources' -delete
    cp -r /usr/share/keyrings/. "$root/usr/share/keyrings/"
    if compgen -G "$scratch/downloads/*.deb" >/dev/null
    then cp "$scratch"/downloads/*.deb "$root/var/cache/apt/archives/"; fi
    inside apt-get -q update
}
step "a clean Debian $codename" make_root || finish

# What is not ours is installed first, so that what is left over can be told from it.
install_others() {
    local others
    others=$(inside sh -c 'apt-get -s install --no-install-recommends /packages/*.deb' |
        awk '$1 == "Inst" && $2 !~ /dpmf/ { print $2 }') || return
    [[ -n $others ]] || return
    # shellcheck disable=SC2086
    inside apt-get -q -y -o APT::Keep-Downloaded-Packages=true install --no-install-recommends \
        $others gcc libc6-dev make cmake pkg-config man-db
    local status=$?
    cp -n "$root"/var/cache/apt/archives/*.deb "$scratch/downloads/" 2>/dev/null
    return "$status"
}
step "what they depend on is in the archive" install_others || finish

# Every file there is, but what dpkg, apt and the caches of man and ldconfig write down about
# themselves.
list_files() {
    (cd "$root" && find . -xdev \( -path ./proc -o -path ./tmp -o -path ./var/lib/dpkg -o \
        -path ./var/lib/apt -o -path ./var/cache \
        -o -path ./var/log -o -path ./packages -o -path ./etc/ld.so.cache \) -prune -o -print |
        LC_ALL=C sort)
}
list_files >"$scratch/before"
step "they install" inside sh -c 'dpkg --install /packages/*.deb' || finish
list_files >"$scratch/installed"
step "and bring files" bash -c "(( \$(comm -13 $scratch/before $scratch/installed | wc -l) > 200 ))"

# ---- at work -------------------------------------------------------------------------------------

mkdir "$root/packages/tests"
cp packaging/debian/tests/* "$root/packages/tests/"
for test in demo link python; do
    step "packaging/debian/tests/$test" inside "/packages/tests/$test"
done
step "the program uses the packaged library" inside sh -c \
    'ldd /usr/bin/dpmf | grep -Eq "libdpmf.so.0 => (/usr)?/lib/"'
# shellcheck disable=SC2016 # for the shell inside
step "every program, function and the package has its manual" inside sh -c '
    for page in "1 dpmf" "1 dpmf-train" "3 libdpmf" "3 dpmf_train" \
        "3 dpmf_store_close" "3 dpmf-python"; do
        man --where $page >/dev/null || exit 1
    done'
step "bash completes dpmf" inside bash -c \
    '. /usr/share/bash-completion/completions/dpmf && complete -p dpmf'
step "as someone without rights" inside setpriv --reuid 65534 --regid 65534 \
    --clear-groups env HOME=/tmp /packages/tests/demo

# ---- gone ----------------------------------------------------------------------------------------

step "they are purged" inside sh -c 'dpkg --purge dpmf libdpmf-dev python3-dpmf libdpmf0'
list_files >"$scratch/after"
step "nothing of them is left" diff "$scratch/before" "$scratch/after"
step "nor in dpkg's own books" bash -c "! ls '$root/var/lib/dpkg/info' | grep dpmf"
finish
