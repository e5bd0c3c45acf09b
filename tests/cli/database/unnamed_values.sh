# A query whose value is named like nothing: a rating, a count and a time look the same
command -v python3 >/dev/null || { echo "needs python3" && exit 77; }
python3 - <<'PYTHON'
import sqlite3
base = sqlite3.connect("q.db")
base.execute("create table p (u int, i int, created int)")
base.executemany("insert into p values (?, ?, ?)",
                 [(1, 1, 1577836800), (1, 1, 1577836900), (1, 2, 1577836900), (2, 1, 1577836900)])
base.commit()
PYTHON
exec 2>&1
for what in 'u, i, created' 'u, i, max(created)' 'u, i, count(*) n' 'u, i, count(*) * 1.0' \
    'u, i, sum(1)' 'u, i, 3, max(created) as ts' 'u, i, count(*)' 'u, i, count(1)' \
    'u, i, COUNT (DISTINCT created)' \
    'u, i, count(*) as rating' 'u, i, min(created) as created_at' \
    'u, i, 3 as stars, min(created) as created_at'; do
    echo "# $what"
    query="SELECT $what FROM p GROUP BY 1, 2 ORDER BY 1, 2"
    dpmf export -q "sqlite:q.db?query=$query" --csv - ||
        echo "exit $?"
done
dpmf export -q "sqlite:q.db?query=SELECT u, i, created FROM p" --events --csv - || echo "exit $?"
dpmf export -q "sqlite:q.db?query=SELECT u, i, 4 FROM p" --columns user,item,rating --csv -
