# A schema that calls a function which is not known to be harmless is refused, but is not damaged
python3 - <<'PYTHON' || { echo "this SQLite trusts json_extract" && exit 77; }
import sqlite3
database = sqlite3.connect("calls.db")
database.execute("CREATE TABLE ratings (user, item, rating)")
database.execute("INSERT INTO ratings VALUES (1, 'dune', 4)")
database.execute("CREATE TABLE other (a TEXT, b AS (json_extract(a, '$.x')))")
database.commit()
database.close()
database = sqlite3.connect("calls.db")
database.execute("PRAGMA trusted_schema = OFF")
try:
    database.execute("SELECT * FROM ratings").fetchall()
except sqlite3.DatabaseError as error:
    raise SystemExit("unsafe use of" not in str(error))
raise SystemExit(1)
PYTHON
dpmf import 'sqlite:calls.db?table=ratings' -o r.dpr 2>&1
echo "exit $?"
# A copy of the table is read
python3 - <<'PYTHON'
import sqlite3
copy = sqlite3.connect("copy.db")
copy.execute("ATTACH 'calls.db' AS old")
copy.execute("CREATE TABLE ratings AS SELECT * FROM old.ratings")
copy.commit()
PYTHON
dpmf export -q 'sqlite:copy.db?table=ratings' --csv -
