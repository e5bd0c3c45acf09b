# Nothing that writes is run, and nothing else than one statement
python3 "$CLI_TESTS/database/make_database.py"
cp ratings.db before.db
for query in "INSERT INTO empty VALUES (1, 2, 3)" \
    "INSERT INTO empty VALUES (1, 2, 3) RETURNING user, item, rating" \
    "DELETE FROM ratings" "SELECT 1, 2, 3; DELETE FROM ratings" "PRAGMA user_version = 7" \
    "ATTACH 'x.db' AS x" \
    "DROP TABLE ratings" "PRAGMA journal_mode = WAL" "VACUUM"; do
    dpmf import "sqlite:ratings.db?query=$query" -o r.dpr
    echo "exit $?"
done
cmp ratings.db before.db
ls
