# The file of a database that the ratings come from is no catalogue, and another database is no text
dpmf ledger init -q l
python3 - <<'PYTHON'
import sqlite3
for name in ("r.db", "other.db"):
    database = sqlite3.connect(name)
    database.execute("CREATE TABLE ratings (user, item, rating)")
    database.executemany("INSERT INTO ratings VALUES (?, ?, ?)",
                         [("u%d" % u, "a", 1 + u % 5) for u in range(100)])
    database.commit()
PYTHON
for catalogue in r.db other.db; do
    dpmf train -q 'sqlite:r.db?table=ratings' --epsilon 1 --rating-range 1:5 \
        --catalogue $catalogue --ledger l -o x.safetensors
    echo "exit $?"
done
