#!/usr/bin/env bash
# Runs every example of the manual: each in an empty directory, after the setup that it names.
#
#   tests/cli/man_examples.sh DPMF_BINARY
#
# dpmf-manpages, beside the binary, lists them. An example passes when it ends with status 0 and
# prints no error. Those that need ssh-keygen are left out, and counted, where there is none.
set -u

if [[ $# -ne 1 || ! -x $1 ]]; then
    echo "usage: $0 DPMF_BINARY" >&2
    exit 2
fi
binary=$(realpath "$1")

work=$(mktemp -d "${TMPDIR:-/tmp}/dpmf-examples.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin" "$work/home"
ln -s "$binary" "$work/bin/dpmf"
export PATH=$work/bin:$PATH HOME=$work/home LC_ALL=C.UTF-8
unset TMPDIR

passed=0
failed=0
skipped=0

run_example() {
    local verb=$1 setup=$2 command=$3
    if [[ "$setup $command" == *ssh-keygen* ]] && ! command -v ssh-keygen >/dev/null; then
        skipped=$((skipped + 1))
        return
    fi
    rm -rf "$work/run"
    mkdir "$work/run"
    # The left side of a pipe has no status of its own here, but it would say "dpmf: error:".
    if (cd "$work/run" && timeout 600 bash -e -c "$setup" && timeout 600 bash -c "$command") \
        >"$work/output" 2>&1 </dev/null && ! grep -q '^dpmf: error:' "$work/output"; then
        passed=$((passed + 1))
        return
    fi
    failed=$((failed + 1))
    printf 'FAILED %s: %s\n' "$verb" "$command"
    cat "$work/output"
}

while IFS=$'\t' read -r verb setup command; do
    run_example "$verb" "$setup" "$command"
done < <("$(dirname "$binary")/dpmf-manpages" --examples)

((skipped == 0)) || echo "$skipped left out: there is no ssh-keygen"
echo "$passed passed, $failed failed"
((failed == 0 && passed > 0))
