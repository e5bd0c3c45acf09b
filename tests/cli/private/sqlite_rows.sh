# A row that makes no rating is dropped by itself: the first decides no type, and the last ends
# nothing
dpmf ledger init -q l
python3 - <<'PYTHON'
import sqlite3
database = sqlite3.connect("r.db")
database.execute("CREATE TABLE ratings (user, item, rating, timestamp)")
rows = [("u%d" % u, "a", 1 + u % 5, u) for u in range(100)]
bad = [(None, "a", 3, 1), ("x", "a", "n/a", 1), ("x", "a", 3, "soon"), (b"\0", "a", 3, 1),
       (1.5, "a", 3, 1), ("x" * 70000, "a", 3, 1)]
database.executemany("INSERT INTO ratings VALUES (?, ?, ?, ?)", bad + rows + bad)
database.commit()
PYTHON
printf 'item\na\nb\n' >items
for address in 'sqlite:r.db?table=ratings' \
    'sqlite:r.db?query=SELECT user, item, rating FROM ratings WHERE user IS NOT NULL'; do
    dpmf train --replace "$address" --epsilon 1 --rating-range 1:5 --catalogue items --ledger l \
        -o x.safetensors --json 2>&1 |
        grep -o 'bad records.*\|error: .*\|"users":[0-9]*,"ratings":[0-9]*'
done
