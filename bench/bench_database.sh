#!/usr/bin/env bash
# From a database to a finished store: 20 million ratings in PostgreSQL and in SQLite, imported,
# three times each, and, as the limit in the same run, what the database alone needs: `COPY ... TO
# STDOUT (FORMAT binary)` into /dev/null, and a program in C that steps through the same query and
# looks at its values. The server is started for this, on loopback as an unprivileged user (see
# tests/database/server.sh).
#
#     bench/bench_database.sh build/dpmf       BENCH_RATINGS=1000000 for a quick look
set -euo pipefail
dpmf=$(realpath "$1")
ratings=${BENCH_RATINGS:-20000000}
# shellcheck source=tests/database/server.sh
source "$(dirname "$0")/../tests/database/server.sh"
work=$(mktemp -d)
trap 'server_remove; rm -rf "$work"' EXIT
cd "$work"

"$dpmf" synth --users $((ratings / 150)) --items 20000 --ratings "$ratings" -o set.dpr --quiet
"$dpmf" export set.dpr --csv . --quiet
printf '%s ratings, %s cores\n' "$ratings" "$(nproc)"

# compare NAME LIMIT: the best of three of each, in seconds, from files of one number a line.
compare() {
    python3 - "$1" "$2" "$ratings" <<'PYTHON'
import sys
name, limit, ratings = sys.argv[1], sys.argv[2], int(sys.argv[3])
alone = min(float(line) for line in open("alone"))
ours = min(float(line) for line in open("ours"))
print(f"{name:9} {ratings / ours / 1e6:5.2f} M ratings/s to a finished store  {ours:6.2f} s  "
      f"{ratings / alone / 1e6:5.2f} M/s {limit}  {alone:6.2f} s  "
      f"{100 * alone / ours:4.0f} % of it")
PYTHON
    rm alone ours
}

seconds() {
    { TIMEFORMAT=%R; time "$@" >/dev/null 2>&1; } 2>&1
}

# ---- PostgreSQL ----------------------------------------------------------------------------------

if server_start; then
    psql -qX -c 'CREATE TABLE ratings (user_id integer, item_id integer, rating real)'
    psql -qX -c '\copy ratings FROM ratings.csv (FORMAT csv, HEADER)'
    psql -qX -c 'VACUUM ANALYZE ratings'
    query='SELECT user_id, item_id, rating FROM ratings'
    export PGPASSWORD=$server_password
    for _ in 1 2 3; do
        seconds psql -qX -h 127.0.0.1 -c "COPY ($query) TO STDOUT (FORMAT binary)" >>alone
        seconds "$dpmf" import "postgres://dpmf@127.0.0.1:$server_port/postgres?query=$query" \
            -o out.dpr -q >>ours
    done
    compare postgres 'COPY to /dev/null'
    server_remove
else
    echo "there is no PostgreSQL: apt-get install postgresql"
fi

# ---- SQLite --------------------------------------------------------------------------------------

python3 - <<'PYTHON'
import csv, sqlite3
database = sqlite3.connect("ratings.db")
database.execute("PRAGMA journal_mode = OFF")
database.execute("CREATE TABLE ratings (user_id INTEGER, item_id INTEGER, rating REAL)")
with open("ratings.csv") as text:
    rows = csv.reader(text)
    next(rows)
    database.executemany("INSERT INTO ratings VALUES (?, ?, ?)", (row[:3] for row in rows))
database.commit()
PYTHON
rm ratings.csv
cc -O2 -x c - -o step -lsqlite3 <<'C'
#include <sqlite3.h>
#include <stdio.h>
int main(int argc, char **argv) {
    sqlite3 *database;
    sqlite3_stmt *statement;
    double sum = 0;
    int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX;
    if (argc != 3 || sqlite3_open_v2(argv[1], &database, flags, NULL) ||
        sqlite3_prepare_v2(database, argv[2], -1, &statement, NULL))
        return 1;
    while (sqlite3_step(statement) == SQLITE_ROW)
        sum += (double)sqlite3_column_int64(statement, 0) +
               (double)sqlite3_column_int64(statement, 1) +
               sqlite3_column_double(statement, 2);
    printf("%g\n", sum);
    return 0;
}
C
cat ratings.db >/dev/null # into the page cache
query='SELECT user_id, item_id, rating FROM ratings'
for _ in 1 2 3; do
    seconds ./step ratings.db "$query" >>alone
    seconds "$dpmf" import "sqlite:ratings.db?query=$query" -o out.dpr -q >>ours
done
compare sqlite 'stepping in C'
