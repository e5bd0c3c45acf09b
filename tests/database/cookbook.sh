#!/usr/bin/env bash
# Runs docs/cookbook.md against a real PostgreSQL server: every block of commands, in order, in one
# folder; where a block of output follows, what is printed must be that.
#
#     tests/database/cookbook.sh build/dpmf [FOLDER]      FOLDER keeps what the blocks printed
#
# A block marked `sh pgvector` is run when the server has that extension, else passed over and
# counted as skipped.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
dpmf=$(realpath "$1")
keep=${2-}
# shellcheck source=tests/database/server.sh
. "$here/server.sh"
unset PGPASSWORD PGPASSFILE PGSERVICE PGSERVICEFILE PGOPTIONS PGSSLMODE PGDATABASE
work=$(mktemp -d)
trap 'server_remove; rm -rf "$work"' EXIT
passed=0 failed=0 skipped=0
if ! server_start; then
    echo "skipped: there is no PostgreSQL here; make test-db installs it"
    echo "0 passed, 0 failed, 1 skipped"
    exit
fi
unset PGDATABASE
for program in psql createdb sqlite3 /usr/bin/python3; do
    command -v "$program" >/dev/null || { echo "FAILED: the cookbook needs $program"; exit 1; }
done
has_pgvector=no
psql -XAtq postgres -c "SELECT 1 FROM pg_available_extensions WHERE name = 'vector'" |
    grep -q 1 && has_pgvector=yes

# Block N becomes N.sh, what it must print N.text, and its mark N.mark.
mkdir "$work/blocks" "$work/run" "$work/bin"
awk -v folder="$work/blocks" '
    /^```/ && inside { inside = 0; close(file); next }
    /^```/ {
        inside = 1; mark = substr($0, 4)
        if (mark ~ /^sh/) { n++; file = sprintf("%s/%03d.sh", folder, n);
            print mark > (folder "/" sprintf("%03d.mark", n)); printf "" > file }
        else if (mark == "text") { file = sprintf("%s/%03d.text", folder, n); printf "" > file }
        else { print "FAILED: a block of unknown kind: " mark; exit 1 }
        next
    }
    inside { print > file }' "$here/../../docs/cookbook.md" || exit 1

ln -s "$dpmf" "$work/bin/dpmf"
export PATH=$work/bin:$PATH HOME=$work LC_ALL=C.UTF-8
cd "$work/run" || exit 70
for block in "$work"/blocks/*.sh; do
    name=$(basename "$block" .sh)
    if [[ $(<"${block%.sh}.mark") == *pgvector && $has_pgvector == no ]]; then
        skipped=$((skipped + 1))
        echo "skipped: block $name needs pgvector, which is not installed"
        continue
    fi
    bash -euo pipefail "$block" >"$work/stdout" 2>"$work/stderr"
    status=$?
    [[ -z $keep ]] || cp "$work/stdout" "$keep/$name.text"
    wanted=${block%.sh}.text
    [[ -e $wanted ]] || wanted=/dev/null
    if [[ $status == 0 && ! -s $work/stderr ]] &&
        diff "$wanted" "$work/stdout" >"$work/difference"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: block $name of docs/cookbook.md, status $status:"
        sed 's/^/    /' "$block" "$work/stderr" "$work/difference"
    fi
done
text="$passed passed, $failed failed"
((skipped)) && text+=", $skipped skipped"
echo "$text"
((failed == 0))
