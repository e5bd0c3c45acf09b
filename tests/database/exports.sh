#!/usr/bin/env bash
# Vectors on a real PostgreSQL server: `dpmf export --pgvector` against a server that is started here, read back by
# psql bit for bit; what is refused, what is replaced, and what stays when it goes wrong half way.
#
#     tests/database/exports.sh build/dpmf
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
dpmf=$(realpath "$1")
# shellcheck source=tests/database/server.sh
. "$here/server.sh"
work=$(mktemp -d)
# shellcheck disable=SC2317
clean_up() {
    server_remove
    rm -rf "$work"
}
trap clean_up EXIT
cd "$work" || exit 70
passed=0 failed=0 skipped=0

pass() { passed=$((passed + 1)); }
fail() {
    failed=$((failed + 1))
    echo "FAILED: $*"
}
verdict() { # verdict NAME: by the status of the command before; a $(...) in NAME would be that command
    if [[ $? == 0 ]]; then pass; else fail "$1: $(cat stderr 2>/dev/null)"; fi
}
skip() {
    skipped=$((skipped + 1))
    echo "skipped: $*"
}

if ! server_start; then
    echo "skipped: there is no PostgreSQL here; make test-db installs it"
    echo "0 passed, 0 failed, 1 skipped"
    exit
fi
export PGPASSWORD=$server_password
url="postgres://dpmf@127.0.0.1:$server_port/postgres"
export PGOPTIONS="-c client_min_messages=warning"
ask() { psql -XAtq -v ON_ERROR_STOP=1 -c "$1"; }

"$dpmf" synth -q --users 2000 --items 80 --ratings 60000 --catalogue-out items.csv -o all.dpr &&
    "$dpmf" train -q all.dpr --epsilon 5 --rating-range 1:5 --catalogue items.csv --ledger ledger -o release.safetensors &&
    "$dpmf" train -q all.dpr -k 7 --epochs 2 -o m.safetensors &&
    "$dpmf" export -q release.safetensors --csv r --catalogue items.csv &&
    "$dpmf" export -q m.safetensors --csv m --not-private --users
verdict "making models to work with"

# psql prints a real in the shortest text that reads back as the same bits, and so does --csv, though not in the same
# form (1e-05 and 0.00001): as numbers they must be the same to the bit.
# same CSV TABLE COLUMNS
same() {
    psql -Xq --csv -v ON_ERROR_STOP=1 -c "SELECT $3, bias, array_to_string(vector::real[], ',') FROM $2 ORDER BY number" >got.csv &&
        /usr/bin/python3 - "$1" got.csv <<'PYTHON'
import csv, struct, sys

def rows(path, split):
    with open(path, newline="", encoding="utf-8") as file:
        reader = csv.reader(file)
        head = next(reader)
        first = head.index("bias")
        for row in reader:
            numbers = row[first:first + 1] + (row[first + 1].split(",") if split else row[first + 1:])
            yield row[:first], b"".join(struct.pack("<f", float(x)) for x in numbers)

ours, theirs = list(rows(sys.argv[1], False)), list(rows(sys.argv[2], True))
assert len(ours) > 50 and ours == theirs, (ours[0], theirs[0])
PYTHON
}

# ---- arrays, and the extension where there is one ------------------------------------------------------------

check_forms() { # check_forms TYPE
    local type=$1
    "$dpmf" export release.safetensors --pgvector "$url" --catalogue items.csv --json 2>stderr >stdout &&
        grep -qF "\"vector_type\":\"$type" stdout && grep -qF "($type" stderr
    verdict "a release as $type"
    same r/items.csv dpmf_items "id AS item, title"
    verdict "psql reads the release's items as they are, as $type"
    [[ $(ask "SELECT value::jsonb->>'epsilon' FROM dpmf_items_model WHERE field = 'statement'") == 5 &&
        $(ask "SELECT value FROM dpmf_items_model WHERE field = 'not_private'") == false ]]
    verdict "the statement is beside them"
    [[ $(ask "SELECT obj_description('dpmf_items'::regclass)") == "dpmf "*": item vectors of a release" ]]
    verdict "the table says what it is"
    "$dpmf" export m.safetensors --pgvector "$url?table=films.all%20items" --not-private --users -q 2>stderr
    [[ $? == 4 ]] && grep -q films stderr
    verdict "a schema that is not there"
    ask 'CREATE SCHEMA films'
    "$dpmf" export m.safetensors --pgvector "$url?table=films.all%20items" --not-private --users -q 2>stderr
    verdict "a checkpoint in a schema of its own"
    same m/items.csv 'films."all items"' "id AS item" && same m/users.csv 'films."all items_users"' "id AS user"
    verdict "psql reads the checkpoint's items and users as they are, as $type"
    ask "SELECT obj_description('films.\"all items_users\"'::regclass)" | grep -q 'NOT PRIVATE'
    verdict "the tables say that they are not private"
}

check_forms 'real[]'

# ---- what is there stays, or is replaced at once -----------------------------------------------------------------

"$dpmf" export release.safetensors --pgvector "$url" 2>stderr
[[ $? == 4 ]] && grep -q 'dpmf_items is there already' stderr && grep -q -- --replace stderr
verdict "a table that is there is not overwritten"
ask 'DROP TABLE dpmf_items'
"$dpmf" export release.safetensors --pgvector "$url" 2>stderr
[[ $? == 4 ]] && grep -q 'dpmf_items_model is there already' stderr && [[ -z $(ask "SELECT to_regclass('dpmf_items')") ]]
verdict "nor is the one beside it, and nothing is made"
"$dpmf" export release.safetensors --pgvector "$url" --replace -q && same r/items.csv dpmf_items "id AS item, NULL AS title" 2>/dev/null
[[ $(ask 'SELECT count(*) FROM dpmf_items') == 80 && $(ask 'SELECT count(title) FROM dpmf_items') == 0 ]]
verdict "--replace replaces"
# A reader in the middle of it sees the old table, whole; the export waits for it.
ask 'UPDATE dpmf_items SET bias = 17'
psql -Xq -c 'BEGIN; SELECT bias FROM dpmf_items LIMIT 1; SELECT pg_sleep(1.5); SELECT max(bias) FROM dpmf_items; COMMIT' >reader &
sleep 0.5
"$dpmf" export release.safetensors --pgvector "$url" --replace -q
verdict "a table that is being read is replaced when the reader is done"
wait %1
grep -q 17 reader && [[ $(ask 'SELECT count(*) FROM dpmf_items WHERE bias = 17') == 0 ]]
verdict "the reader saw the old one to its end"
ask 'CREATE VIEW seen AS SELECT id FROM dpmf_items'
"$dpmf" export release.safetensors --pgvector "$url" --replace 2>stderr
[[ $? == 4 ]] && grep -q 'depend' stderr && [[ $(ask 'SELECT count(*) FROM seen') == 80 ]]
verdict "a table that a view needs stays, and all of it"
ask 'DROP VIEW seen'
ask 'CREATE TABLE mine AS SELECT 1 AS "user"'
"$dpmf" export release.safetensors --pgvector "$url?table=mine" --replace 2>stderr
[[ $? == 4 ]] && grep -q 'mine is not one that dpmf made' stderr && [[ $(ask 'SELECT count(*) FROM mine') == 1 ]]
verdict "a table of someone else's is never replaced"
"$dpmf" export release.safetensors --pgvector "$url?table=$(printf 'n%.0s' {1..58})" 2>stderr
[[ $? == 2 ]] && grep -q 'longer than 57 bytes' stderr
verdict "a name that the server would cut is refused"

# ---- refused -----------------------------------------------------------------------------------------------------

ask "CREATE ROLE guest LOGIN PASSWORD '$server_password'; REVOKE CREATE ON SCHEMA public FROM public"
"$dpmf" export release.safetensors --pgvector "postgres://guest@127.0.0.1:$server_port/postgres?table=theirs" 2>stderr
[[ $? == 4 ]] && grep -q 'permission denied' stderr && grep -q 'GRANT CREATE' stderr
verdict "a role that may not make tables"
PGPASSWORD=wrong "$dpmf" export release.safetensors --pgvector "$url?table=theirs" 2>stderr
[[ $? == 4 ]] && ! grep -q "wrong\|$server_password" stderr
verdict "a wrong password, of which nothing is shown"
"$dpmf" export m.safetensors --pgvector "$url?table=theirs" 2>stderr
[[ $? == 6 && -z $(ask "SELECT to_regclass('theirs')") ]]
verdict "a checkpoint without --not-private"
/usr/bin/python3 -B "$here/../cli/vectors/vectors.py" make odd.safetensors &&
    { "$dpmf" export odd.safetensors --pgvector "$url?table=theirs" --not-private 2>stderr; [[ $? == 3 ]]; } &&
    grep -q 'item 3 is not UTF-8' stderr && [[ -z $(ask "SELECT to_regclass('theirs')") ]]
verdict "an id that is no text"

# ---- gone in the middle ------------------------------------------------------------------------------------------

# An export that waits for a lock is killed, or its server dies: the old table stays, whole.
"$dpmf" synth -q --users 3000 --items 2000 --ratings 60000 -o large.dpr &&
    "$dpmf" train -q large.dpr -k 400 --epochs 1 -o large.safetensors
verdict "making a larger model"
for i in 1 2 3 4 5 6; do
    "$dpmf" export large.safetensors --pgvector "$url" --not-private --users --replace -q 2>/dev/null &
    pid=$!
    sleep "0.$(printf '%02d' $((RANDOM % 30 + 5)))"
    kill -"$([[ $i -gt 3 ]] && echo KILL || echo TERM)" "$pid" 2>/dev/null
    wait "$pid" 2>/dev/null
    count=$(ask 'SELECT count(*) FROM dpmf_items')
    [[ $count == 80 || $count == 2000 ]]
    verdict "an export killed in the middle leaves a whole table ($count rows)"
done
psql -Xq -c 'BEGIN; LOCK TABLE dpmf_items; SELECT pg_sleep(30)' >/dev/null 2>&1 &
locker=$!
sleep 0.5
"$dpmf" export large.safetensors --pgvector "$url" --not-private --replace 2>stderr &
pid=$!
sleep 0.7
kill -TERM "$pid"
wait "$pid"
[[ $? == 143 ]]
verdict "an export that waits for a lock ends when it is told to"
"$dpmf" export large.safetensors --pgvector "$url" --not-private --replace 2>stderr &
pid=$!
sleep 0.7
server_stop immediate
wait "$pid"
[[ $? == 4 ]]
verdict "a server that dies"
kill "$locker" 2>/dev/null
server_again
count=$(ask 'SELECT count(*) FROM dpmf_items')
[[ $count == 80 || $count == 2000 ]]
verdict "and when it is back, the old table is whole ($count rows)"

# ---- with the extension ------------------------------------------------------------------------------------------

if ask 'CREATE EXTENSION vector' 2>/dev/null; then
    ask 'DROP TABLE dpmf_items, dpmf_items_model; DROP TABLE IF EXISTS dpmf_items_users; DROP SCHEMA films CASCADE'
    check_forms 'vector('
else
    skip "the extension vector (pgvector) is not installed: its type is not tried"
fi

text="$passed passed, $failed failed"
((skipped)) && text+=", $skipped skipped"
echo "$text"
((failed == 0))
