#!/usr/bin/env bash
# Installs the Debian packages that are missing for a purpose, from the list in packages.txt, and
# says which and why. Silent, and nearly free, when nothing is missing.
#
#   scripts/install_packages.sh build test     install what `build` and `test` need
#   scripts/install_packages.sh --check build  install nothing; name what is missing
#
# NO_INSTALL=1 is the same as --check, except that only what the build needs is insisted on.
# Without dpkg (another distribution) it does nothing: CMake then says what it cannot find.
set -euo pipefail
cd "$(dirname "$0")/.."

check=""
if [[ ${1:-} == --check ]]; then
    check=yes
    shift
fi
purposes=" $* "

command -v dpkg-query >/dev/null || exit 0

installed=" $(dpkg-query -W -f '${db:Status-Abbrev} ${Package}\n' |
    awk '$1 == "ii" { printf "%s ", $2 }') "

# Whether one of a package's purposes (test,bench) is among those asked for.
is_wanted() {
    local purpose
    for purpose in ${1//,/ }; do
        [[ $purposes == *" $purpose "* ]] && return
    done
    return 1
}

# Sets `missing`, the packages, and `missing_lines`, the same with their purpose and reason.
find_missing() {
    missing=()
    missing_lines=""
    missing_for_build=""
    local package purpose why
    while read -r package purpose why; do
        [[ -z $package || $package == "#"* ]] && continue
        is_wanted "$purpose" || continue
        [[ $installed == *" $package "* ]] && continue
        missing+=("$package")
        missing_lines+="$(printf '  %-20s %-11s %s' "$package" "$purpose" "$why")"$'\n'
        if [[ ,$purpose, == *,build,* ]]; then missing_for_build=yes; fi
    done <packages.txt
}

find_missing
((${#missing[@]})) || exit 0

as_root=()
if [[ $(id -u) != 0 ]]; then
    as_root=(sudo)
fi
command_line="${as_root[*]:-} apt-get install --no-install-recommends ${missing[*]}"
command_line="${command_line# }"

if [[ -n $check || ${NO_INSTALL:-0} == 1 ]]; then
    printf 'Not installed:\n%s' "$missing_lines" >&2
    printf 'To install: %s\n' "$command_line" >&2
    if [[ -n $missing_for_build || -n $check ]]; then
        exit 1
    fi
    exit 0
fi

if [[ $(id -u) != 0 ]] && ! command -v sudo >/dev/null; then
    printf 'Not installed, and installing needs root:\n%s' "$missing_lines" >&2
    printf 'To install, as root: %s\n' "${command_line#sudo }" >&2
    [[ -z $missing_for_build ]]
    exit
fi

printf 'Installing:\n%s' "$missing_lines" >&2
log=$(mktemp)
trap 'rm -f "$log"' EXIT

apt() {
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -y -qq \
        -o DPkg::Lock::Timeout=120 "$@" >"$log" 2>&1
}

# The package lists of a fresh machine are empty, and those of an old one name files that are gone.
if ! apt install --no-install-recommends "${missing[@]}"; then
    if ! { apt update && apt install --no-install-recommends "${missing[@]}"; }; then
        tail -n 5 "$log" >&2
        printf 'This did not work: %s\n' "$command_line" >&2
        [[ -z $missing_for_build ]] || exit 1
        printf 'Going on; what needs these packages is skipped or fails.\n' >&2
    fi
fi
