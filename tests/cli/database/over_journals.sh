# What SQLite keeps beside a database is part of it, there already or not, also through a link
python3 "$CLI_TESTS/database/make_database.py"
python3 - <<'PYTHON'
import os, sqlite3
database = sqlite3.connect("live.db", isolation_level=None)
database.execute("PRAGMA journal_mode = WAL")
database.execute("CREATE TABLE ratings (user, item, rating)")
database.execute("INSERT INTO ratings VALUES (1, 'dune', 4)")
os._exit(0)
PYTHON
ln -s live.db link.db
sha256sum live.db-wal >before
for input in live.db ./live.db link.db ratings.db; do
    for output in live.db-wal live.db-journal "../${PWD##*/}/live.db-shm" ratings.db-wal \
        ./ratings.db-journal; do
        echo "$input $output"
        timeout 20 dpmf import "sqlite:$input?table=missing" -o "$output" 2>&1 | head -1
    done
done
dpmf train 'sqlite:ratings.db?table=ratings' -o ratings.db-shm
echo "exit $?"
sha256sum --check before
# A file of text has none
printf 'user,item,rating\na,x,1\n' >r.csv
dpmf import -q r.csv -o r.csv-wal
echo "exit $?"
