# Which of a user's ratings of an item counts does not follow from the order of a table's rows,
# which other people's rows can change: the latest counts, then the highest. The order of a query is
# the curator's.
python3 - <<'PYTHON'
import sqlite3
database = sqlite3.connect("ratings.db")
# With an index that has all that is read, the planner takes either by the number of rows
for rows in 959, 960:
    table = f"rows_{rows}"
    database.execute(f"CREATE TABLE {table} (k INTEGER PRIMARY KEY, user TEXT, item TEXT,"
                     " rating REAL) WITHOUT ROWID")
    database.executemany(f"INSERT INTO {table} VALUES (?, ?, ?, ?)",
                         [(1, "ann", "i1", 5), (2, "ann", "i1", 1)] +
                         [(k, f"u{k}", "i2", 3) for k in range(3, rows + 1)])
    database.execute(f"ANALYZE {table}")
    database.execute(f"CREATE INDEX covering_{rows} ON {table} (rating, user, item)")
# After a row of this number, SQLite draws those of later rows at random
database.execute("CREATE TABLE at_random (id INTEGER PRIMARY KEY, user TEXT, item TEXT,"
                 " rating REAL)")
database.execute("INSERT INTO at_random VALUES (9223372036854775807, 'bob', 'i2', 3)")
database.executemany("INSERT INTO at_random (user, item, rating) VALUES ('ann', 'i2', ?)",
                     [(1 + (i * 7 + 3) % 500 / 100,) for i in range(500)])
database.execute("CREATE TABLE timed (user TEXT, item TEXT, rating REAL, timestamp INTEGER)")
database.executemany("INSERT INTO timed VALUES (?, ?, ?, ?)",
                     [("ann", "i1", 5, 8), ("ann", "i1", 2, 9), ("ann", "i1", 3, 9),
                      ("ann", "i1", 1, 9), ("ann", "i1", 4, None), ("bob", "i1", 4, None),
                      ("bob", "i1", 1, -1)])
database.execute("CREATE VIEW seen AS SELECT user, item, rating FROM timed")
database.commit()
PYTHON
for table in rows_959 rows_960 at_random timed seen; do
    dpmf import -q "sqlite:ratings.db?table=$table" -o $table.dpr &&
        dpmf export -q $table.dpr --csv - | grep -e ann -e bob
done
dpmf import -q 'sqlite:ratings.db?query=SELECT user, item, rating FROM timed ORDER BY rowid' \
    -o query.dpr && dpmf export -q query.dpr --csv -
# What is said of it
dpmf import 'sqlite:ratings.db?table=seen' -o said.dpr 2>&1 | grep -o '; [0-9].*'
dpmf train --epochs 1 'sqlite:ratings.db?table=seen' -o m.safetensors 2>&1 | grep repeated
