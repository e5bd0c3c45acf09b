#!/usr/bin/env bash
# Vectors on a real PostgreSQL server: `dpmf export --pgvector` against a server that is started
# here, read back by psql bit for bit; what is refused, what is replaced, and what stays when it
# goes wrong half way.
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
# verdict NAME: by the status of the command before; a $(...) in NAME would be that command
verdict() {
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
    "$dpmf" ledger init -q ledger &&
    "$dpmf" train -q all.dpr --epsilon 5 --rating-range 1:5 --catalogue items.csv --ledger ledger \
    -o release.safetensors &&
    "$dpmf" train -q all.dpr -k 7 --epochs 2 -o m.safetensors &&
    "$dpmf" export -q release.safetensors --csv r --catalogue items.csv &&
    "$dpmf" export -q m.safetensors --csv m --not-private --users
verdict "making models to work with"

# psql prints a real in the shortest text that reads back as the same bits, and so does --csv,
# though not in the same form (1e-05 and 0.00001): as numbers they must be the same to the bit. same
# CSV TABLE COLUMNS
same() {
    psql -Xq --csv -v ON_ERROR_STOP=1 -c \
        "SELECT $3, bias, array_to_string(vector::real[], ',') FROM $2 ORDER BY number" >got.csv &&
        /usr/bin/python3 - "$1" got.csv <<'PYTHON'
import csv, struct, sys

def rows(path, split):
    with open(path, newline="", encoding="utf-8") as file:
        reader = csv.reader(file)
        head = next(reader)
        first = head.index("bias")
        for row in reader:
            numbers = row[first:first + 1] + (
                row[first + 1].split(",") if split else row[first + 1:])
            yield row[:first], b"".join(struct.pack("<f", float(x)) for x in numbers)

ours, theirs = list(rows(sys.argv[1], False)), list(rows(sys.argv[2], True))
assert len(ours) > 50 and ours == theirs, (ours[0], theirs[0])
PYTHON
}

# ---- arrays, and the extension where there is one ------------------------------------------------

check_forms() { # check_forms TYPE
    local type=$1
    "$dpmf" export release.safetensors --pgvector "$url" --catalogue items.csv \
        --json 2>stderr >stdout &&
        grep -qF "\"vector_type\":\"$type" stdout && grep -qF "($type" stderr
    verdict "a release as $type"
    same r/items.csv dpmf_items "id AS item, title"
    verdict "psql reads the release's items as they are, as $type"
    [[ $(ask "SELECT value::jsonb->>'epsilon' FROM dpmf_items_model WHERE field = \
'statement'") == 5 &&
        $(ask "SELECT value FROM dpmf_items_model WHERE field = 'not_private'") == false ]]
    verdict "the statement is beside them"
    [[ $(ask "SELECT obj_description('dpmf_items'::regclass)") == "dpmf "*": item vectors of a \
release" ]]
    verdict "the table says what it is"
    "$dpmf" export m.safetensors --pgvector "$url?table=films.all%20items" --not-private --users \
        -q 2>stderr
    [[ $? == 4 ]] && grep -q films stderr && grep -q 'CREATE SCHEMA' stderr
    verdict "a schema that is not there"
    ask 'CREATE SCHEMA films'
    "$dpmf" export m.safetensors --pgvector "$url?table=films.all%20items" --not-private --users \
        -q 2>stderr
    verdict "a checkpoint in a schema of its own"
    same m/items.csv 'films."all items"' "id AS item" &&
        same m/users.csv 'films."all items_users"' "id AS user"
    verdict "psql reads the checkpoint's items and users as they are, as $type"
    ask "SELECT obj_description('films.\"all items_users\"'::regclass)" | grep -q 'NOT PRIVATE'
    verdict "the tables say that they are not private"
}

check_forms 'real[]'

# ---- what is there stays, or is replaced at once -------------------------------------------------

"$dpmf" export release.safetensors --pgvector "$url" 2>stderr
[[ $? == 4 ]] && grep -q 'dpmf_items is there already' stderr && grep -q -- --replace stderr
verdict "a table that is there is not overwritten"
ask 'DROP TABLE dpmf_items'
"$dpmf" export release.safetensors --pgvector "$url" 2>stderr
[[ $? == 4 ]] && grep -q 'dpmf_items_model is there already' stderr &&
    [[ -z $(ask "SELECT to_regclass('dpmf_items')") ]]
verdict "nor is the one beside it, and nothing is made"
"$dpmf" export release.safetensors --pgvector "$url" --replace -q &&
    same r/items.csv dpmf_items "id AS item, NULL AS title" 2>/dev/null
[[ $(ask 'SELECT count(*) FROM dpmf_items') == 80 &&
    $(ask 'SELECT count(title) FROM dpmf_items') == 0 ]]
verdict "--replace replaces"
# A reader in the middle of it sees the old table, whole; the export waits for it.
ask 'UPDATE dpmf_items SET bias = 17'
psql -Xq -c \
    'BEGIN; SELECT bias FROM dpmf_items LIMIT 1; SELECT pg_sleep(1.5);
        SELECT max(bias) FROM dpmf_items; COMMIT' >reader &
sleep 0.5
"$dpmf" export release.safetensors --pgvector "$url" --replace -q
verdict "a table that is being read is replaced when the reader is done"
wait %1
grep -q 17 reader && [[ $(ask 'SELECT count(*) FROM dpmf_items WHERE bias = 17') == 0 ]]
verdict "the reader saw the old one to its end"
ask 'CREATE VIEW seen AS SELECT id FROM dpmf_items'
"$dpmf" export release.safetensors --pgvector "$url" --replace 2>stderr
[[ $? == 4 ]] && grep -q 'view seen depends on' stderr &&
    grep -q 'drop what depends on it first' stderr && [[ $(ask 'SELECT count(*) FROM seen') == 80 ]]
verdict "a table that a view needs stays, and all of it"
ask 'DROP VIEW seen'
ask 'CREATE TABLE mine AS SELECT 1 AS "user"'
"$dpmf" export release.safetensors --pgvector "$url?table=mine" --replace 2>stderr
[[ $? == 4 ]] && grep -q 'mine is not one that dpmf made' stderr &&
    [[ $(ask 'SELECT count(*) FROM mine') == 1 ]]
verdict "a table of someone else's is never replaced"
"$dpmf" export release.safetensors --pgvector "$url?table=$(printf 'n%.0s' {1..58})" 2>stderr
[[ $? == 2 ]] && grep -q 'longer than 57 bytes' stderr
verdict "a name that the server would cut is refused"

# ---- refused -------------------------------------------------------------------------------------

ask "CREATE ROLE guest LOGIN PASSWORD '$server_password'; REVOKE CREATE ON SCHEMA public FROM \
public"
"$dpmf" export release.safetensors --pgvector \
    "postgres://guest@127.0.0.1:$server_port/postgres?table=theirs" 2>stderr
[[ $? == 4 ]] && grep -q 'permission denied' stderr && grep -q 'GRANT CREATE' stderr
verdict "a role that may not make tables"
PGPASSWORD=wrong "$dpmf" export release.safetensors --pgvector "$url?table=theirs" 2>stderr
[[ $? == 4 ]] && ! grep -q "wrong\|$server_password" stderr &&
    grep -q "the password is not this user's: .*PGPASSWORD" stderr
verdict "a wrong password, of which nothing is shown"
"$dpmf" export release.safetensors --pgvector \
    "postgres://dpmf@127.0.0.1:$server_port/nothing" 2>stderr
[[ $? == 4 ]] && grep -q 'name a database that the server has' stderr
verdict "a database that is not there"
"$dpmf" export release.safetensors --pgvector \
    "postgres://nobody@${server_folder//\//%2F}/postgres?port=$server_port" 2>stderr
[[ $? == 4 ]] && grep -q 'name a user that the server has' stderr
verdict "a user that is not there"
PGOPTIONS="-c default_transaction_read_only=on" "$dpmf" export release.safetensors \
    --pgvector "$url?table=theirs" 2>stderr
[[ $? == 4 ]] && grep -q 'this server is read-only' stderr
verdict "a server that only reads"
ask "CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0"
"$dpmf" export m.safetensors --pgvector "$url?table=theirs" 2>stderr
[[ $? == 6 && -z $(ask "SELECT to_regclass('theirs')") ]]
verdict "a checkpoint without --not-private"
/usr/bin/python3 -B "$here/../cli/vectors/vectors.py" make odd.safetensors &&
    { "$dpmf" export odd.safetensors --pgvector "$url?table=theirs" --not-private 2>stderr
    [[ $? == 3 ]]; } &&
    grep -q 'item 3 is not UTF-8' stderr && [[ -z $(ask "SELECT to_regclass('theirs')") ]]
verdict "an id that is no text"
"$dpmf" export odd.safetensors --pgvector "postgres://127.0.0.1:1/postgres" --not-private 2>stderr
[[ $? == 3 ]] && grep -q 'item 3 is not UTF-8' stderr
verdict "it is refused before there is a server"

# ---- odd ids -------------------------------------------------------------------------------------

odd() { /usr/bin/python3 -B "$here/odd_ids.py" "$@" 2>>stderr; }
odd make . && "$dpmf" import -q text.jsonl text.csv -o text.dpr &&
    "$dpmf" train -q text.dpr -k 3 --epochs 1 -o text.safetensors
verdict "making a model of odd items"
"$dpmf" export -q text.safetensors --pgvector "$url?table=odd" --not-private \
    --catalogue text.titles 2>stderr &&
    ask "SELECT encode(convert_to(id, 'UTF8'), 'hex'), coalesce(encode(convert_to(title, 'UTF8'), \
'hex'), '-') FROM odd ORDER BY number" >odd.hex &&
    odd hex text odd.hex
verdict "odd ids and titles come back exactly, an id of 60 kB too"
! ask "INSERT INTO odd SELECT 1000, id, title, bias, vector FROM odd ORDER BY length(id) DESC \
LIMIT 1" 2>/dev/null
verdict "no id occurs twice, however long"
"$dpmf" export -q text.safetensors --pgvector "$url?table=latin" --not-private \
    --catalogue titles.csv 2>stderr &&
    [[ $(ask "SELECT title FROM latin WHERE id = 'NULL'") == café ]]
verdict "a title in ISO-8859-1"
build=$(dirname "$dpmf")
if nm -D "$build/libdpmf.so" | grep -qE '__(asan|tsan|ubsan)_'; then
    skip "a program of others cannot be linked with a library that has sanitizers"
else
    "${CC:-cc}" -std=c11 -I"$here/../../include" "$here/raw_title.c" -L"$build" \
        -Wl,-rpath,"$build" -ldpmf -o raw_title 2>stderr &&
        { ./raw_title text.safetensors "$url?table=theirs" 2>stderr
        [[ $? == 3 && -z $(ask "SELECT to_regclass('theirs')") ]]; } &&
        grep -q 'the title of item 1 is not UTF-8' stderr
    verdict "a title that is no text, from a program"
fi
"$dpmf" export -q text.safetensors --pgvector "postgres://dpmf@127.0.0.1:$server_port/latin" \
    --not-private 2>stderr
[[ $? == 4 && -z $(PGDATABASE=latin ask "SELECT to_regclass('dpmf_items')") ]] &&
    grep -q "ENCODING 'UTF8'" stderr
verdict "a database that lacks characters"

# ---- gone in the middle --------------------------------------------------------------------------

# An export that waits for a lock is killed, or its server dies: the old table stays, whole.
"$dpmf" synth -q --users 3000 --items 2000 --ratings 60000 -o large.dpr &&
    "$dpmf" train -q large.dpr -k 400 --epochs 1 -o large.safetensors
verdict "making a larger model"
for i in 1 2 3 4 5 6; do
    "$dpmf" export large.safetensors --pgvector "$url" --not-private --users --replace \
        -q 2>/dev/null &
    pid=$!
    sleep "0.$(printf '%02d' $((RANDOM % 30 + 5)))"
    kill -"$([[ $i -gt 3 ]] && echo KILL || echo TERM)" "$pid" 2>/dev/null
    wait "$pid" 2>/dev/null
    count=$(ask 'SELECT count(*) FROM dpmf_items')
    [[ $count == 80 || $count == 2000 ]]
    verdict "an export killed in the middle leaves a whole table ($count rows)"
done
# A server that stops taking rows in the middle of a COPY: rows are made slow, so that it is in one
# for long; then the process that serves us is frozen, and what it does not take fills everything
# between.
ask "CREATE TABLE pace AS SELECT 0.05 AS seconds"
ask "CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(seconds) \
FROM pace; RETURN NEW; END'"
ask "CREATE FUNCTION slow() RETURNS event_trigger LANGUAGE plpgsql AS \$\$ DECLARE made record; \
BEGIN
    FOR made IN SELECT * FROM pg_event_trigger_ddl_commands() WHERE object_type = 'table' LOOP
        EXECUTE format('CREATE TRIGGER slow BEFORE INSERT ON %s FOR EACH ROW EXECUTE FUNCTION \
wait()', made.object_identity);
    END LOOP; END \$\$"
ask "CREATE EVENT TRIGGER slow ON ddl_command_end WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION \
slow()"
ours="FROM pg_stat_activity WHERE application_name = 'dpmf'"
for signal in INT TERM; do
    env --default-signal=INT,TERM "$dpmf" export large.safetensors --pgvector "$url?table=frozen" \
        --not-private -q 2>stderr &
    pid=$!
    backend=""
    for ((i = 0; i < 200; i++)); do
        backend=$(ask "SELECT pid $ours AND state = 'active' AND query LIKE 'COPY%'")
        [[ -n $backend ]] && break
        sleep 0.05
    done
    sleep 1 # by now it has sent all that there is room for
    kill -STOP "$backend"
    begun=$(date +%s%N)
    kill "-$signal" "$pid"
    wait "$pid"
    status=$?
    took=$((($(date +%s%N) - begun) / 1000000))
    kill -CONT "$backend"
    [[ -n $backend && $status == "$([[ $signal == INT ]] && echo 130 || echo 143)" ]] &&
        ((took < 2500))
    verdict "SIG$signal is heard while a server takes nothing (status $status after $took ms)"
    for ((i = 0; i < 100; i++)); do
        [[ $(ask "SELECT count(*) $ours") == 0 ]] && break
        sleep 0.1
    done
    [[ $(ask "SELECT count(*) $ours") == 0 && -z $(ask "SELECT to_regclass('frozen')") ]]
    verdict "and nothing is left of it on the server"
done
# Killed where there is no chance to say good-bye.
"$dpmf" export large.safetensors --pgvector "$url?table=frozen" --not-private -q 2>stderr &
pid=$!
for ((i = 0; i < 200; i++)); do
    [[ -n $(ask "SELECT pid $ours AND state = 'active' AND query LIKE 'COPY%'") ]] && break
    sleep 0.05
done
kill -KILL "$pid"
wait "$pid" 2>/dev/null
ask 'UPDATE pace SET seconds = 0' # it reads what is under way, and then that there is no more
for ((i = 0; i < 300; i++)); do
    [[ $(ask "SELECT count(*) $ours") == 0 ]] && break
    sleep 0.1
done
((i < 300)) && [[ -z $(ask "SELECT to_regclass('frozen')") ]]
verdict "SIGKILL in the middle of a COPY leaves no table"
ask 'DROP EVENT TRIGGER slow'

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

# ---- with the extension --------------------------------------------------------------------------

if ask 'CREATE EXTENSION vector' 2>/dev/null; then
    ask 'DROP TABLE dpmf_items, dpmf_items_model; DROP TABLE IF EXISTS dpmf_items_users;
        DROP SCHEMA films CASCADE'
    check_forms 'vector('
else
    skip "the extension vector (pgvector) is not installed: its type is not tried"
fi

text="$passed passed, $failed failed"
((skipped)) && text+=", $skipped skipped"
echo "$text"
((failed == 0))
