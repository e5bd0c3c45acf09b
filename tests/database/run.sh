#!/usr/bin/env bash
# Ratings out of a real PostgreSQL server, which is started for this on loopback as an unprivileged
# user and removed afterwards (server.sh). What SQLite can do is tried in tests/cli/database. The
# last line is "N passed, N failed".
#
#     tests/database/run.sh build/dpmf          `make test-db` installs PostgreSQL first
set -uo pipefail
dpmf=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/database/server.sh
source "$here/server.sh"
unset PGPASSWORD PGPASSFILE PGSERVICE PGSERVICEFILE PGOPTIONS PGSSLMODE
work=$(mktemp -d)
trap 'server_remove; rm -rf "$work"' EXIT
cd "$work" || exit 70
export HOME=$work
if ! server_start; then
    echo "skipped: there is no PostgreSQL here; make test-db installs it"
    echo "0 passed, 0 failed, 1 skipped"
    exit
fi

passed=0
failed=0
base="postgres://dpmf@127.0.0.1:$server_port/postgres"
export PGPASSWORD=$server_password

report() {
    if [[ $1 == 0 ]]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $2"
        [[ ! -s said ]] || sed 's/^/    /' said
    fi
}

sql() { PGPASSWORD='' psql -qXAt -v ON_ERROR_STOP=1 "$@"; }

# same NAME CSV ADDRESS [OPTION...]: the store is, byte for byte, the one that the text gives, but
# for its header, which says how it was read.
same() {
    local name=$1 text=$2 address=$3
    shift 3
    printf '%s' "$text" >expected.csv
    "$dpmf" import -q expected.csv -o expected.dpr >said 2>&1 &&
        "$dpmf" import -q "$address" "$@" -o got.dpr >said 2>&1 &&
        cmp -i 64 expected.dpr got.dpr >>said 2>&1
    report $? "$name"
    rm -f expected.* got.dpr
}

# refused NAME STATUS PATTERN ADDRESS [OPTION...]: ends with the status and a line that has the
# pattern, and no output.
refused() {
    local name=$1 status=$2 pattern=$3 address=$4 got
    shift 4
    "$dpmf" import "$address" "$@" -o refused.dpr >said 2>&1
    got=$?
    { [[ $got == "$status" && ! -e refused.dpr ]] && grep -q -- "$pattern" said; }
    report $? "$name (status $got, wanted $status and \"$pattern\")"
    rm -f refused.dpr
}

# ---- what is read --------------------------------------------------------------------------------

sql <<'SQL'
CREATE TYPE colour AS ENUM ('red', 'green');
CREATE SCHEMA shop;
CREATE TABLE ratings (id serial, user_id bigint, item text, rating numeric(3,1), ts timestamptz);
INSERT INTO ratings (user_id, item, rating, ts) VALUES (1, 'dune', 4.5, '2020-01-01 00:00:00+00'),
    (-2, 'Bär & Co', 3, NULL), (9007199254740993, 'dune', 0.5, '1969-12-31 23:59:59.5+00');
CREATE TABLE shop."Odd ""Name" (rating real, "movieId" varchar(20), "User-ID" integer);
INSERT INTO shop."Odd ""Name" VALUES (2.5, 'x', 7);
CREATE TABLE empty ("user" int, item int, rating int);
CREATE TABLE other (a int, b int, c int);
CREATE TABLE many AS SELECT i % 1999 AS "user", i % 1009 AS item, (i % 10) / 2.0 AS rating
    FROM generate_series(1, 300000) AS i;
CREATE FUNCTION sneak() RETURNS int LANGUAGE plpgsql VOLATILE AS
    'BEGIN INSERT INTO empty VALUES (1, 1, 1); RETURN 1; END';
CREATE FUNCTION unlock() RETURNS int LANGUAGE plpgsql VOLATILE AS
    'BEGIN PERFORM set_config(''transaction_read_only'', ''off'', true);
    INSERT INTO empty VALUES (1, 1, 1); RETURN 1; END';
SQL

rows=$'user,item,rating,timestamp\n1,dune,4.5,1577836800\n-2,Bär & Co,3,\n'
rows+=$'9007199254740993,dune,0.5,-1\n'
same "a table" "$rows" "$base?table=ratings"
same "a table in a schema, by its names" $'user,item,rating\n7,x,2.5\n' \
    "$base?table=shop.Odd \"Name"
same "a query" "$rows" "$base?query=SELECT user_id, item, rating, ts FROM ratings ORDER BY id"
same "a query with a semicolon" "$rows" \
    "$base?query=SELECT user_id, item, rating, ts FROM ratings ORDER BY id; "
same "a query with a comment" "$rows" \
    "$base?query=SELECT user_id, item, rating, ts FROM ratings ORDER BY id -- all"
same "a query, percent-encoded" "$rows" \
    "$base?query=SELECT%20user_id,item,rating,ts%20FROM%20ratings%20WHERE%20item%20LIKE%20'%25'"
same "postgresql://" "$rows" \
    "postgresql${base#postgres}?query=SELECT user_id, item, rating, ts FROM ratings"
same "the socket" "$rows" \
    "postgres://dpmf@${server_folder//\//%2F}/postgres?table=ratings&port=$server_port"
same "--columns" $'user,item,rating\n1,2,3\n' "$base?query=SELECT 3, 9, 1, 2" \
    --columns rating,_,user,item
same "names in another order" $'user,item,rating\n1,2,3\n' \
    "$base?query=SELECT 3 AS rating, 2 AS item, 1 AS \"user\""
same "whole numbers of all sizes" $'user,item,rating\n-5,7,3\n' \
    "$base?query=SELECT (-5)::smallint, 7::bigint, 3::smallint AS rating"
same "text, char, name" $'user,item,rating\nab,c,3\n' \
    "$base?query=SELECT 'ab'::char(5), 'c'::name, '3'::varchar AS rating"
same "uuid, enumeration, numeric ids" \
    $'user,item,rating\n0a000000-0000-0000-0000-00000000000b,red,3\n12345678901234567890,green,4\n' \
    "$base?query=SELECT u, i, r AS rating FROM (VALUES \
('0A000000-0000-0000-0000-00000000000B'::uuid::text, \
'red'::colour, 3), ('12345678901234567890', 'green'::colour, 4)) AS v(u, i, r)"
same "a uuid" $'user,item,rating\n0a000000-0000-0000-0000-00000000000b,1.50,3\n' \
    "$base?query=SELECT '0A000000-0000-0000-0000-00000000000B'::uuid, 1.50::numeric, 3 AS rating"
same "real numbers" $'user,item,rating\n1,1,0.1\n1,2,3.5\n' \
    "$base?query=SELECT 1, i, CASE i WHEN 1 THEN 0.1 ELSE 3.5 END::float8 AS rating FROM \
generate_series(1, \
2) AS i"
same "single precision" \
    $'user,item,rating,timestamp\n1,1,0.7,\n1,2,0.9,0.7\n1,3,3.3,1.1e9\n1,4,-1e-30,-0.5\n1,5,2097152.2,7\n' \
    "$base?query=SELECT 1, n, v AS rating, t AS ts FROM (VALUES (1, 0.7::real, NULL::real), (2, \
0.9, 0.7), \
(3, 3.3, 1.1e9), (4, -1e-30, -0.5), (5, 2097152.25, 7)) AS x(n, v, t)"
same "single precision within a range" $'user,item,rating\n1,1,0.7\n1,2,0.9\n' \
    "$base?query=SELECT 1, n, v AS rating FROM (VALUES (1, 0.7::real), (2, 0.9)) AS x(n, v)" \
    --rating-range 0.7:0.9
same "numerics" \
    $'user,item,rating\n1,1,0.1\n1,2,12345678.87654321\n1,3,-1e-30\n1,4,123456789012345678901234567890\n1,5,0\n1,6,20000\n' \
    "$base?query=SELECT 1, n, v AS rating FROM (VALUES (1, 0.1), (2, 12345678.87654321), (3, \
-1e-30), (4, \
123456789012345678901234567890), (5, 0.000), (6, 20000)) AS t(n, v)"
same "text numbers" $'user,item,rating\n1,1,4.5\n' \
    "$base?query=SELECT 1, 1, ' 4.5 '::text AS rating"
same "times of all types" $'user,item,rating,timestamp\n1,1,1,86400\n1,2,1,86400\n' \
    "$base?query=SELECT 1, i, 1 AS rating, CASE i WHEN 1 THEN '1970-01-02' ELSE '1970-01-02 \
00:00:00.9' \
END::timestamp AS time FROM generate_series(1, 2) AS i"
same "a date" $'user,item,rating,timestamp\n1,1,1,-86400\n' \
    "$base?query=SELECT 1, 1, 1 AS rating, '1969-12-31'::date AS date"
same "seconds since 1970" $'user,item,rating,timestamp\n1,1,1,-2\n' \
    "$base?query=SELECT 1, 1, 1 AS rating, (-1.5)::float8 AS ts"
same "a time without end, left out" $'user,item,rating,timestamp\n1,1,1,\n' \
    "$base?query=SELECT 1, 1, 1 AS rating, nullif('infinity'::timestamp, 'infinity') AS ts"
same "a time as text" $'user,item,rating,timestamp\n1,1,1,86400\n' \
    "$base?query=SELECT 1, 1, 1 AS rating, '1970-01-02'::text AS ts"

sql -c 'COPY (SELECT * FROM many) TO STDOUT (FORMAT csv, HEADER)' >many.csv
"$dpmf" import -q many.csv -o many.dpr 2>said
for threads in 1 4; do
    "$dpmf" import -q -j $threads "$base?table=many" -o got.dpr 2>said &&
        cmp -i 64 many.dpr got.dpr >>said
    report $? "300,000 rows are the store that the text gives, -j $threads"
done

sql <<'SQL'
CREATE TABLE singles AS SELECT i / 300 AS "user", i % 300 AS item,
    CASE i % 4 WHEN 0 THEN (i % 977) / 10.0
    WHEN 1 THEN (random() - 0.5) * 1e5 WHEN 2 THEN exp((random() - 0.5) * 160)
    ELSE 2097152 + i / 4.0 END::real AS rating,
    timestamptz '2001-02-03 04:05:06.7+00' + i * interval '7777.77 seconds' AS ts
    FROM generate_series(0, 99999) AS i;
SET timezone = 'Asia/Kolkata';
\o singles.csv
COPY (SELECT * FROM singles) TO STDOUT (FORMAT csv, HEADER);
SQL
"$dpmf" import -q singles.csv -o singles.dpr >said 2>&1 &&
    "$dpmf" import -q "$base?table=singles" -o got.dpr >said 2>&1 &&
    cmp -i 64 singles.dpr got.dpr >>said 2>&1
report $? "100,000 real numbers and times are the store that the text gives"
rm -f singles.dpr

"$dpmf" train -q --deterministic -k 4 --epochs 2 "$base?table=many" -o \
    database.safetensors >said 2>&1 &&
    "$dpmf" train -q --deterministic -k 4 --epochs 2 many.csv -o text.safetensors >said 2>&1 &&
    cmp database.safetensors text.safetensors >>said
report $? "train: the model that the text gives"
"$dpmf" train -q -k 256 --epochs 1 --memory 64MiB "$base?table=many" -o \
    streamed.safetensors >said 2>&1
report $? "train with little memory"
"$dpmf" describe "$base?table=many" >said 2>&1 &&
    "$dpmf" split -q "$base?table=many" --train a.dpr --test b.dpr >said 2>&1 &&
    "$dpmf" evaluate -q database.safetensors "$base?table=many" >said 2>&1
report $? "describe, split and evaluate"
"$dpmf" import "$base?table=ratings" many.csv "sqlite:none.db?table=x" -o got2.dpr >said 2>&1
[[ $? == 4 && ! -e got2.dpr ]]
report $? "an input that is missing is noticed first"

# ---- what is refused -----------------------------------------------------------------------------

refused "four columns" 3 'returns 4 columns' "$base?query=SELECT 1, 2, 3, 4"
refused "a value without a name" 3 'named like no rating, count or time' \
    "$base?query=SELECT 1, 2, 3"
refused "a time without a name" 3 'named like no rating, count or time' \
    "$base?query=SELECT 1, 2, extract(epoch FROM now())"
refused "one column" 3 'returns 1 column' "$base?query=SELECT 1"
refused "no columns" 3 'returns 0 columns' "$base?query=SELECT"
refused "no rows" 3 'returns no rows' "$base?query=SELECT 1, 2, 3 AS rating WHERE false"
refused "an empty table" 3 'has no rows' "$base?table=empty"
refused "names that say something else" 3 'names of the query' \
    "$base?query=SELECT 1 AS rating, 2 AS b, 3 AS c"
refused "a table without the usual names" 3 'no column that is named like the user' \
    "$base?table=other"
refused "no such table" 3 'does not exist' "$base?table=nothing"
refused "a semicolon and a comment" 3 'leave out a semicolon' \
    "$base?query=SELECT 1, 2, 3 AS rating; -- all"
refused "a row that is far too long" 3 'that is row 1 of what' \
    "$base?query=SELECT repeat('x', 2000000), 2, 3 AS rating"
refused "a syntax error" 3 'syntax error' "$base?query=SELEKT 1"
refused "NULL for a user" 3 ':1:1: the user id is NULL' \
    "$base?query=SELECT NULL::int, 2, 3 AS rating"
refused "NULL for an item" 3 ':2:2: the item id is NULL' \
    "$base?query=SELECT 1, nullif(i, 2), 3 AS rating FROM generate_series(1, 2) AS i"
refused "NULL for a rating" 3 ':1:3: the rating is NULL' \
    "$base?query=SELECT 1, 2, NULL::real AS rating"
refused "NaN" 3 'not finite' "$base?query=SELECT 1, 2, 'NaN'::float8 AS rating"
refused "NaN of numeric" 3 'not finite' "$base?query=SELECT 1, 2, 'NaN'::numeric AS rating"
refused "infinity" 3 'not finite' "$base?query=SELECT 1, 2, '-Infinity'::real AS rating"
refused "a numeric that is too large" 3 'not finite' \
    "$base?query=SELECT 1, 2, 1e400::numeric AS rating"
refused "a time without end" 3 'is not a time' \
    "$base?query=SELECT 1, 2, 3 AS rating, 'infinity'::timestamptz AS ts"
refused "a time that is not a number" 3 'timestamp "NaN" is not a time' \
    "$base?query=SELECT 1, 2, 3 AS rating, 'NaN'::real AS ts"
refused "text that is no number" 3 'rating "good" is not a number' \
    "$base?query=SELECT 1, 2, 'good'::text AS rating"
refused "a rating that is a truth value" 3 'the rating is a truth value' \
    "$base?query=SELECT 1, 2, true AS rating"
refused "a rating that is a time" 3 'the rating is a time' \
    "$base?query=SELECT 1, 2, now() AS rating"
refused "a user that is a real number" 3 'the user id is a real number' \
    "$base?query=SELECT 1.5::real, 2, 3 AS rating"
refused "an item that is binary" 3 'the item id is binary data' \
    "$base?query=SELECT 1, ''::bytea, 3 AS rating"
refused "a user without a name" 3 'the user id is empty' \
    "$base?query=SELECT ''::text, 2, 3 AS rating"
refused "an id that is too long" 3 'more than 65536' \
    "$base?query=SELECT repeat('x', 70000), 2, 3 AS rating"
refused "a row that is too long" 3 'longer than' \
    "$base?query=SELECT repeat('x', 2000000), 2, 3 AS rating"
refused "out of range" 3 'outside the range' "$base?query=SELECT 1, 2, 9 AS rating" \
    --rating-range 1:5
refused "an error of the server's, in the middle" 3 'division by zero' \
    "$base?query=SELECT i, 1, 1 / (200000 - i) AS rating FROM generate_series(1, 300000) AS i"
refused "--format" 2 'leave --format out' "$base?table=ratings" --format csv
refused "a parameter that libpq has not" 4 'invalid connection option' \
    "$base?table=ratings&colour=red"

"$dpmf" import --json -q --on-error skip -o skipped.dpr \
    "$base?query=SELECT nullif(i, 3), CASE i WHEN 4 THEN repeat('x', 2000000) WHEN 5 THEN '' ELSE \
'a' END, CASE i WHEN 6 THEN 'NaN' ELSE i::real END AS rating FROM generate_series(1, 8) AS i" \
    >said 2>&1
grep -q '"ratings":4,' said && grep -q '"skipped":4' said
report $? "--on-error skip"

# Counts of events: none of these is one, whatever its type.
for value in 0 -3::bigint 1.5::numeric 0.5::real "'NaN'::float8" "'Infinity'::real" 1e300::float8 \
    1e300::numeric "'NaN'::numeric" 9007199254740992 "'often'::text" "''::text" "'0'::varchar" \
    NULL::int; do
    refused "the count $value" 3 ':1:3: .*count' \
        "$base?query=SELECT 1 AS \"user\", 2 AS item, $value AS plays"
done
refused "a count that is a truth value" 3 'the count is a truth value' \
    "$base?query=SELECT 1 AS \"user\", 2 AS item, true AS plays"
refused "a count that is a time" 3 'the count is a time' \
    "$base?query=SELECT 1 AS \"user\", 2 AS item, now() AS plays"
refused "an event without an item" 3 ':1:2: the item id is NULL' \
    "$base?query=SELECT 1 AS \"user\", NULL::text AS item"
refused "a pair without a user" 3 ':1:1: the user id is empty' \
    "$base?query=SELECT '' AS \"user\", 2 AS item"
sql <<'SQL'
CREATE TABLE plays ("user" text, item text, plays float8);
INSERT INTO plays VALUES ('ann', 'a', 2), ('bob', 'a', 0), ('bob', 'b', -3), ('bob', 'c', 1.5),
    ('bob', 'd', 'NaN'), ('bob', 'e', 'Infinity'), ('bob', 'f', 1e300),
    ('bob', 'g', 9007199254740992), ('bob', 'h', NULL), (NULL, 'a', 1), ('', 'a', 1),
    ('cleo', NULL, 1), ('dan', 'b', 9007199254740991);
SQL
"$dpmf" import --json -q --on-error skip -o skipped.dpr "$base?table=plays" >said 2>&1
grep -q '"holds":"events","ratings":2,"users":2,' said && grep -q '"skipped":11' said
report $? "bad counts are skipped one by one"
printf 'item\na\nb\nc\n' >plays.items
"$dpmf" train "$base?table=plays" --epsilon 1 --catalogue plays.items --insecure-noise-seed 1 \
    -o plays.safetensors >said 2>&1
grep -q 'bad records skipped: 11$' said
report $? "and counted to the curator in a private run"
rm -f skipped.dpr

# ---- a row decides nothing about others ----------------------------------------------------------

# A plain table is read row by row; what a query, a view or a policy gives may depend on other rows,
# and its release is partial.
sql <<'SQL'
CREATE TABLE plain ("user" text, item text, rating int);
INSERT INTO plain VALUES ('ann', 'a', 3), ('bob', 'b', 4);
CREATE TABLE "Odd 'Table" AS SELECT * FROM plain;
CREATE VIEW seen AS SELECT "user", item, (SELECT count(*) FROM plain)::int AS rating FROM plain;
CREATE MATERIALIZED VIEW kept AS SELECT * FROM plain;
CREATE TABLE parts ("user" text, item text, rating int) PARTITION BY LIST (item);
CREATE TABLE part_a PARTITION OF parts FOR VALUES IN ('a');
INSERT INTO parts VALUES ('ann', 'a', 3);
CREATE TABLE guarded AS SELECT * FROM plain;
ALTER TABLE guarded ENABLE ROW LEVEL SECURITY;
CREATE TABLE heirs () INHERITS (guarded);
CREATE TABLE parent AS SELECT * FROM plain;
CREATE TABLE child () INHERITS (parent);
ALTER TABLE child ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON ALL TABLES IN SCHEMA public TO PUBLIC;
SQL
# kind NAME KIND ADDRESS: what a release from it may claim
kind() {
    printf 'item\na\nb\nc\n' >kinds.items
    [[ -e kinds.ledger ]] || "$dpmf" ledger init -q kinds.ledger
    "$dpmf" train -q "$3" --replace --epsilon 1 --rating-range 1:5 --catalogue kinds.items \
        --ledger kinds.ledger --json \
        -o kinds.safetensors >said 2>&1 && grep -q "\"kind\":\"$2\"" said
    report $? "the kind of a release from $1 is $2"
}
kind "a table" proven "$base?table=plain"
kind "a table in a schema" proven "$base?table=public.plain"
kind "a table with an odd name" proven "$base?table=Odd 'Table"
kind "a partitioned table" proven "$base?table=parts"
kind "a view" partial "$base?table=seen"
kind "a materialised view" partial "$base?table=kept"
kind "a query" partial "$base?query=SELECT * FROM plain"
kind "a table with row security" partial "$base?table=guarded"
kind "a table with an heir that has row security" partial "$base?table=parent"

# Nor does a row that was deleted, into whose place a later one of someone else goes, decide which
# of two ratings of an item counts.
for before in without with; do
    sql -c 'SET client_min_messages = error' -c 'DROP TABLE IF EXISTS twice'
    sql -c 'CREATE TABLE twice ("user" text, item text, rating real)'
    [[ $before == without ]] || sql -c "INSERT INTO twice VALUES ('bob', 'a', 3)"
    sql -c "INSERT INTO twice VALUES ('ann', 'a', 5)"
    [[ $before == without ]] || sql -c "DELETE FROM twice WHERE \"user\" = 'bob'" -c 'VACUUM twice'
    sql -c "INSERT INTO twice VALUES ('ann', 'a', 1)" -c 'GRANT SELECT ON twice TO PUBLIC'
    "$dpmf" import -q "$base?table=twice" --on-error skip --replace -o twice.dpr 2>said &&
        "$dpmf" export -q twice.dpr --csv - 2>>said | grep -q '^ann,a,5$'
    report $? "the rating that counts of two, $before someone else's that was deleted"
done
sql -c 'ALTER TABLE twice ADD ts int' -c 'UPDATE twice SET ts = 7 WHERE rating = 1'
same "of a table the latest time counts" $'user,item,rating,timestamp\nann,a,1,7\n' \
    "$base?table=twice"
rm twice.dpr

# So may what functions of the database make of a column that is read: types of its own, with their
# casts and output, casts that it has for types of PostgreSQL's, and generated columns.
sql <<'SQL'
CREATE TYPE person AS (name text, age int);
CREATE TABLE cast_users ("user" person, item text, rating int);
INSERT INTO cast_users VALUES (ROW('ann', 1), 'a', 3), (ROW('bob', 2), 'b', 4);
CREATE FUNCTION person_text(person) RETURNS text LANGUAGE plpgsql AS
    'BEGIN RETURN ($1).name || (SELECT count(*) FROM cast_users); END';
CREATE CAST (person AS text) WITH FUNCTION person_text(person);
CREATE TABLE own_items ("user" text, item colour, rating int);
CREATE TABLE own_parts ("user" text, item text, rating int, seen person) PARTITION BY LIST (item);
CREATE TABLE own_part_a PARTITION OF own_parts FOR VALUES IN ('a');
CREATE TABLE arrays ("user" colour[], item text, rating int);
CREATE DOMAIN stars AS int CHECK (VALUE > 0);
CREATE DOMAIN tint AS colour;
CREATE TABLE domains ("user" text, item text, rating stars);
CREATE TABLE own_domains ("user" tint, item text, rating int);
CREATE TABLE built_in ("user" uuid, item char(3), rating numeric, ts timestamptz);
CREATE TABLE addresses ("user" inet, item text, rating int);
CREATE DOMAIN address AS macaddr;
CREATE TABLE cast_domain ("user" address, item text, rating int);
CREATE FUNCTION address_text(macaddr) RETURNS text LANGUAGE sql AS
    'SELECT count(*)::text FROM plain';
CREATE CAST (macaddr AS text) WITH FUNCTION address_text(macaddr);
CREATE TABLE generated ("user" text, item text, base int,
    rating int GENERATED ALWAYS AS (base + 1) STORED);
CREATE TABLE generated_else ("user" text, item text, rating int,
    other int GENERATED ALWAYS AS (rating + 1) STORED);
CREATE TABLE old ("user" text, item text, rating int);
CREATE TABLE young ("user" text, item text, rating int GENERATED ALWAYS AS (3) STORED);
CREATE TABLE decimals ("user" numeric, item text, rating int);
CREATE TABLE documents ("user" jsonb, item text, rating int);
CREATE COLLATION any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE any_case ("user" text COLLATE any_case, item text, rating int);
GRANT SELECT ON ALL TABLES IN SCHEMA public TO PUBLIC;
SQL
kind "a table with users that are numeric" partial "$base?table=decimals"
kind "a table with users in jsonb" partial "$base?table=documents"
kind "a table with users that are equal in any case" partial "$base?table=any_case"
kind "a table with ids by a cast of its own" partial "$base?table=cast_users"
kind "a table with an enumeration" partial "$base?table=own_items"
kind "a table with an array of an enumeration" partial "$base?table=arrays"
kind "a table with a domain over an enumeration" partial "$base?table=own_domains"
kind "a table with a cast of its own for a domain over a built-in type" partial \
    "$base?table=cast_domain"
kind "a table with a generated rating" partial "$base?table=generated"
kind "a table with a type of its own that is not read" proven "$base?table=own_parts"
kind "a table with a generated column that is not read" proven "$base?table=generated_else"
kind "a table with a domain over a built-in type" proven "$base?table=domains"
kind "a table with built-in types" proven "$base?table=built_in"
kind "a table with users of another built-in type" partial "$base?table=addresses"

# A wish means whom the column's type means by it.
sql <<'SQL'
INSERT INTO built_in VALUES ('0A000000-0000-0000-0000-00000000000B', 'a', 3),
    ('0A000000-0000-0000-0000-00000000000C', 'a', 3);
CREATE TABLE numbered ("user" bigint, item text, rating int);
INSERT INTO numbered VALUES (7, 'a', 3), (-8, 'b', 4);
CREATE TABLE padded ("user" char(6), item text, rating int);
INSERT INTO padded VALUES ('ann', 'a', 3), ('bob b', 'b', 4);
GRANT SELECT ON ALL TABLES IN SCHEMA public TO PUBLIC;
SQL
# wish NAME ID FOUND ADDRESS: that of a user who is found, or the words of a refusal
wish() {
    printf 'user,epsilon\n%s,0\n' "$2" >wishes.csv
    "$dpmf" train -q "$4" --replace --epsilon 1 --rating-range 1:5 --catalogue kinds.items \
        --ledger kinds.ledger --user-privacy wishes.csv --json -o kinds.safetensors >said 2>&1
    grep -q "$3" said
    report $? "a wish for $1"
}
one='"users":1,.*"users_left_out":1,.*"wishes_of_nobody":0'
wish "a uuid in capitals" 0A000000-0000-0000-0000-00000000000B "$one" "$base?table=built_in"
wish "a uuid without hyphens" 0A00000000000000000000000000000b "$one" "$base?table=built_in"
wish "a uuid of a query" 0A000000-0000-0000-0000-00000000000B "$one" \
    "$base?query=SELECT * FROM built_in"
wish "what is no uuid" 7 'are UUIDs, and this is not one' "$base?table=built_in"
kind "a table with users that are padded with blanks" proven "$base?table=padded"
wish "a padded text" 'ann   ' "$one" "$base?table=padded"
wish "a padded text without its blanks" 'bob b' "$one" "$base?table=padded"
wish "a padded text of nothing" '  ' 'the id is empty' "$base?table=padded"
wish "a whole number" 007 "$one" "$base?table=numbered"
wish "a negative number" -08 "$one" "$base?table=numbered"
wish "what is no whole number" ann 'are whole numbers of 64 bits, and this is not one' \
    "$base?table=numbered"

if sql -c 'ALTER TABLE young INHERIT old' 2>/dev/null; then # not since PostgreSQL 16
    kind "a table with an heir that generates a rating" partial "$base?table=old"
fi
sql -c 'CREATE DATABASE altered'
sql -d altered <<'SQL'
CREATE TABLE ratings ("user" text, item text, rating real);
CREATE FUNCTION send(real) RETURNS bytea LANGUAGE sql IMMUTABLE AS
    'SELECT pg_catalog.int4send(count(*)::int) FROM ratings';
SQL
altered="postgres://dpmf@127.0.0.1:$server_port/altered?table=ratings"
kind "a table in another database" proven "$altered"
if sql -d altered -c 'ALTER TYPE float4 SET (SEND = send)' 2>/dev/null; then # since PostgreSQL 13
    kind "a table with a built-in type that is sent by a function of its own" partial "$altered"
fi

# What the server says of a row may quote it: a private run shows its number alone.
sql <<'SQL'
CREATE TABLE quoted AS SELECT 'ann' AS "user", 'a' AS item, 'my secret'::text AS rating;
CREATE FUNCTION tell(text) RETURNS int LANGUAGE plpgsql AS
    'BEGIN RAISE EXCEPTION ''told %'', $1 USING DETAIL = $1, HINT = $1; END';
GRANT SELECT ON quoted TO PUBLIC;
SQL
# quotes NAME STATUS SQLSTATE QUERY: fails with a value in the words of the server
quotes() {
    local got
    refused "$1, without privacy" "$2" 'my secret' "$base?query=$4"
    "$dpmf" train "$base?query=$4" --replace --epsilon 1 --rating-range 1:5 \
        --catalogue kinds.items --ledger kinds.ledger -o quoted.safetensors >said 2>&1
    got=$?
    [[ $got == "$2" && ! -e quoted.safetensors ]] && grep -q "reports SQLSTATE $3;" said &&
        ! grep -q 'secret' said
    report $? "$1, in a private run (status $got, wanted $2 and SQLSTATE $3)"
}
quotes "a value that does not fit" 3 22P02 'SELECT "user", item, rating::int FROM quoted'
quotes "an exception with a detail and a hint" 4 P0001 \
    'SELECT "user", item, tell(rating) AS rating FROM quoted'
"$dpmf" train "$base?query=SELECT 1, 2, 3 AS rating; -- all" --replace --epsilon 1 \
    --rating-range 1:5 --catalogue kinds.items --ledger kinds.ledger -o quoted.safetensors \
    >said 2>&1
[[ $? == 3 ]] && grep -q 'leave out a semicolon' said
report $? "a semicolon and a comment in a private run"

# Rows that are made up, each at any place among those of others, whose ratings stay the same. A
# query returns all the cases one after the other, each with others of its own.
if [[ -n ${DPMF_TEST_LONG:-} ]]; then cases=100000; else cases=3000; fi
python3 - $cases >inserted.sql <<'PYTHON'
import random, sys
random.seed(7)
marks = ["", "\"", ",", ";", "::", "\t", "\r", "\n", "|", "{", "0", "-0", "1e999", "nan", "n/a",
         "soon", "infinity", "2005-09-06", "é", "mallory", "a", "3", "  "]
def value():
    if random.random() < 0.15:
        return "NULL"
    if random.random() < 0.01:
        return "repeat('x', 70000)"
    text = "".join(random.choice(marks) for _ in range(random.randrange(1, 3)))
    return "'" + text.replace("'", "''") + "'"
print("CREATE TABLE others (place real, u text, i text, r text, t text);")
print("CREATE TABLE inserted (trial int, place real, u text, i text, r text, t text);")
for place in range(8):
    print(f"INSERT INTO others VALUES ({place}, 'base{place % 3}', 'i{place}', '{1 + place % 5}', "
          f"{place if place % 2 else 'NULL'});")
print("INSERT INTO inserted VALUES")
print(",\n".join(f"({trial}, {random.randrange(9) - 0.5}, {value()}, {value()}, {value()}, "
                 f"{value()})" for trial in range(int(sys.argv[1]))) + ";")
PYTHON
sql <inserted.sql && sql -c 'GRANT SELECT ON others, inserted TO dpmf'
"$dpmf" import -q --json --on-error skip -o got.dpr "$base?query=SELECT u AS user, i AS item, \
r AS rating, t AS timestamp FROM (SELECT trial, o.place, o.u || '.' || trial AS u, o.i, o.r, o.t \
FROM others AS o, inserted UNION ALL SELECT trial, place, u, i, r, t FROM inserted) AS x \
ORDER BY trial, place" >imported 2>said &&
    "$dpmf" export -q got.dpr --csv got 2>>said
python3 - $cases >>said <<'PYTHON'
import collections, csv, json, sys
cases, wanted = int(sys.argv[1]), sorted([f"base{p % 3}", f"i{p}", str(1 + p % 5),
                                          str(p) if p % 2 else ""] for p in range(8))
got = collections.defaultdict(list)
with open("got/ratings.csv", newline="") as file:
    for user, *rest in csv.reader(file):
        if user.startswith("base"):
            name, trial = user.split(".")
            got[int(trial)].append([name] + rest)
changed = [trial for trial in range(cases) if sorted(got[trial]) != wanted]
skipped = json.load(open("imported"))["skipped"]
print("changed:", changed[:5], "skipped:", skipped)
sys.exit(bool(changed) or len(got) != cases or not 0.2 * cases < skipped < 0.99 * cases)
PYTHON
report $? "$cases inserted rows change nobody else's ratings"
rm -rf got got.dpr

# Of a database in SQL_ASCII one row of bytes that are no text ends the reading: private runs refuse
# it with such a row and without.
sql -c "CREATE DATABASE bytes ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0"
sql -d bytes -c \
    "CREATE TABLE ratings (user_id text, item_id text, rating int); INSERT INTO ratings VALUES \
('a', 'x', 1), ('b', 'y', 5)"
bytes="postgres://dpmf@127.0.0.1:$server_port/bytes?table=ratings"
printf 'item\nx\ny\n' >items.csv
"$dpmf" ledger init -q ledger
for row in none "$(printf "('m\\377', 'x', 1)")"; do
    [[ $row == none ]] || printf 'INSERT INTO ratings VALUES %s;\n' "$row" |
        PGCLIENTENCODING=SQL_ASCII sql -d bytes
    "$dpmf" train "$bytes" \
        --replace --epsilon 1 --rating-range 1:5 --catalogue items.csv --ledger ledger \
        -o bytes.safetensors >said 2>&1
    [[ $? == 6 && ! -e bytes.safetensors ]] && grep -q 'encoded in SQL_ASCII' said
    report $? "a private run of a database in SQL_ASCII"
    if [[ $row == none ]]; then
        "$dpmf" import -q "$bytes" --on-error skip -o bytes.dpr >said 2>&1 &&
            "$dpmf" describe bytes.dpr --json | grep -q '"drops_bad":false,"by_record":false'
        report $? "a store of it says that bad records were not dropped"
        rm -f bytes.dpr
    fi
done

# ---- nothing is written --------------------------------------------------------------------------

refused "INSERT" 3 'returns 0 columns' "$base?query=INSERT INTO empty VALUES (1, 2, 3)"
refused "INSERT ... RETURNING" 3 'read-only transaction' \
    "$base?query=INSERT INTO empty VALUES (1, 2, 3) RETURNING *"
refused "INSERT in a WITH" 3 'read-only transaction' \
    "$base?query=WITH w AS (INSERT INTO empty VALUES (1, 2, 3) RETURNING *) SELECT * FROM w"
refused "INSERT in a function" 3 'read-only transaction' \
    "$base?query=SELECT 1, 2, sneak() AS rating"
refused "INSERT in a function that asks for more" 3 'read-write mode' \
    "$base?query=SELECT 1, 2, unlock() AS rating"
refused "a sequence" 3 'read-only transaction' \
    "$base?query=SELECT 1, 2, nextval('ratings_id_seq') AS rating"
refused "two statements" 3 'multiple commands' \
    "$base?query=SELECT 1, 2, 3 AS rating; DELETE FROM ratings"
refused "an end of COPY" 3 'syntax error' \
    "$base?query=SELECT 1, 2, 3) TO STDOUT; DELETE FROM ratings; COPY (SELECT 1, 2, 3"
refused "DROP in a table's name" 3 'does not exist' "$base?table=x\"; DROP TABLE ratings; --"
refused "SELECT INTO" 3 'returns 0 columns' \
    "$base?query=SELECT 1 AS \"user\", 2 AS item, 3 AS rating INTO made"
[[ $(sql -c "SELECT (SELECT count(*) FROM empty), (SELECT count(*) FROM ratings), \
to_regclass('made') IS NULL") == "0|3|t" ]]
report $? "and nothing was written"

# ---- passwords -----------------------------------------------------------------------------------

refused "a password in the address" 2 'there is a password' \
    "postgres://dpmf:$server_password@127.0.0.1:$server_port/postgres?table=ratings"
! grep -q -- "$server_password" said
report $? "and it is not shown"
refused "a password as a parameter" 2 'there is a password' \
    "$base?password=$server_password&table=ratings"
PGPASSWORD=wrong-$server_password refused "a wrong password" 4 'password authentication failed' \
    "$base?table=ratings"
! grep -q -- "$server_password" said
report $? "and it is not shown either"
grep -q "the password is not this user's: .*PGPASSWORD" said
report $? "and what would mend it is said"
PGPASSWORD='' refused "no password" 4 'PGPASSWORD' "$base?table=ratings"
refused "a server's words with the password in them" 3 'says \*\*\*' \
    "$base?query=SELECT 1, 2, ('says ' || '$server_password')::int AS rating"
refused "no server" 4 'cannot connect' "postgres://dpmf@127.0.0.1:1/postgres?table=ratings"
refused "no such host" 4 'cannot connect' "postgres://dpmf@host.invalid/postgres?table=ratings"
refused "no such database" 4 'does not exist' \
    "postgres://dpmf@127.0.0.1:$server_port/nothing?table=ratings"
unset PGPASSWORD
printf '127.0.0.1:%s:postgres:dpmf:%s\n' "$server_port" "$server_password" >.pgpass
chmod 600 .pgpass
PGPASSFILE=$work/.pgpass same "the file .pgpass" "$rows" "$base?table=ratings"
rm .pgpass
printf '[shop]\nhost=127.0.0.1\nport=%s\nuser=dpmf\ndbname=postgres\npassword=%s\n' \
    "$server_port" "$server_password" >services
(unset PGHOST PGPORT PGUSER PGDATABASE
    PGSERVICEFILE=$work/services "$dpmf" import -q "postgres://?service=shop&table=ratings" \
        -o service.dpr >said 2>&1)
report $? "a service file"
export PGPASSWORD=$server_password
! grep -qF -- "$server_password" ./*.dpr ./*.safetensors
report $? "no password in any output"

# ---- ends in the middle --------------------------------------------------------------------------

# Rows that come slowly, a chunk and more of them; and a server that says nothing for long.
trickle="$base?query=SELECT i, i %25 7, length(pg_sleep(0.002)::text) AS rating \
FROM generate_series(1, 1000000) AS i"
silent="$base?query=SELECT 1, 2, length(pg_sleep(600)::text) AS rating"
busy="SELECT count(*) FROM pg_stat_activity WHERE application_name = 'dpmf' \
AND state = 'active'"

# is_busy N: waits until so many commands of ours run at the server.
is_busy() {
    local i
    for ((i = 0; i < 100; i++)); do
        [[ $(sql -c "$busy") == "$1" ]] && return 0
        sleep 0.1
    done
    return 1
}

# ended NAME STATUS PATTERN ADDRESS COMMAND...: as refused, with the command run once the query is.
ended() {
    local name=$1 status=$2 pattern=$3 address=$4 got
    shift 4
    env --default-signal=INT,TERM "$dpmf" import "$address" -o ended.dpr >said 2>&1 &
    importing=$!
    is_busy 1
    sleep 0.3
    "$@" >/dev/null 2>&1
    wait "$importing"
    got=$?
    { [[ $got == "$status" && ! -e ended.dpr ]] && { [[ -z $pattern ]] ||
        grep -q -- "$pattern" said; }; }
    report $? "$name (status $got, wanted $status and \"$pattern\")"
}
send() { kill "-$1" "$importing"; }
terminate() { sql -c \
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'dpmf'"; }
cancel() { sql -c \
    "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'dpmf'"; }

for signal in INT TERM; do
    [[ $signal == INT ]] && status=130 || status=143
    ended "SIG$signal while rows come" "$status" '' "$trickle" send $signal
    is_busy 0
    report $? "and the server stops too"
    ended "SIG$signal while the server is silent" "$status" '' "$silent" send $signal
    is_busy 0
    report $? "and the server stops too"
done
# A server that hangs answers nothing, not even that a query is to be cancelled.
freeze() {
    frozen=$(head -n 1 "$server_folder/data/postmaster.pid")
    frozen="$frozen $(pgrep -P "$frozen" | tr '\n' ' ')"
    # shellcheck disable=SC2086
    kill -STOP $frozen
    send TERM
    (
        sleep 10
        # shellcheck disable=SC2086
        kill -CONT $frozen
    ) &
    thawing=$!
}
begun=$SECONDS
ended "SIGTERM while the server hangs" 143 '' "$silent" freeze
((SECONDS - begun < 8))
report $? "and it does not wait for it (within $((SECONDS - begun)) s)"
kill "$thawing"
# shellcheck disable=SC2086
kill -CONT $frozen
is_busy 0
report $? "and the server stops once it is awake"
ended "the query is cancelled at the server" 4 'canceling statement' "$trickle" cancel
ended "the connection is ended at the server" 4 'terminating connection' "$trickle" terminate
ended "the server is stopped" 4 'terminating connection\|closed the connection' "$trickle" \
    server_stop fast
server_again
ended "the server crashes" 4 'closed the connection\|terminating connection\|reset by peer' \
    "$trickle" server_stop immediate
server_again
same "and is there again" "$rows" "$base?table=ratings"

leftovers=$(find . -name '*.dpr*' ! -name many.dpr ! -name got.dpr ! -name a.dpr ! -name b.dpr ! \
    -name skipped.dpr ! -name service.dpr)
[[ -z $leftovers ]]
report $? "nothing is left behind: $leftovers"

printf '%d passed, %d failed\n' "$passed" "$failed"
((failed == 0))
