# No file, a folder, a pipe, something else, a damaged database, and one that someone else has
# locked
python3 "$CLI_TESTS/database/make_database.py"
python3 - <<'PYTHON'
import sqlite3
database = sqlite3.connect("large.db")
database.execute("CREATE TABLE ratings (user, item, rating)")
database.executemany("INSERT INTO ratings VALUES (?, ?, ?)", ((i, i % 7, 1) for i in range(50000)))
database.commit()
size = len(open("large.db", "rb").read())
with open("large.db", "r+b") as file:
    file.seek(size // 2)
    file.write(b"\xff" * 5000)
PYTHON
mkdir folder
mkfifo pipe
echo 'user,item,rating' >text.csv
head -c 5000 ratings.db >cut.db
for file in missing.db folder pipe /dev/null text.csv large.db cut.db; do
    dpmf import "sqlite:$file?table=ratings" -o r.dpr
    echo "exit $?"
done
# A program died in the middle of writing: the journal must be played back first, and the file is
# not ours to write
python3 - <<'PYTHON'
import os, sqlite3
database = sqlite3.connect("half.db", isolation_level=None)
database.execute("BEGIN")
database.execute("CREATE TABLE ratings (user, item, rating)")
database.executemany("INSERT INTO ratings VALUES (?, ?, ?)", ((i, i % 7, 1) for i in range(2000)))
database.execute("COMMIT")
database.execute("PRAGMA cache_size = 1")
database.execute("BEGIN")
database.execute("UPDATE ratings SET rating = 5")
os._exit(0)
PYTHON
dpmf import 'sqlite:half.db?table=ratings' -o r.dpr
echo "exit $?"
rm half.db*
python3 - <<'PYTHON'
import sqlite3, subprocess
database = sqlite3.connect("ratings.db", isolation_level=None)
database.execute("BEGIN EXCLUSIVE")
run = subprocess.run(["dpmf", "import", "sqlite:ratings.db?table=ratings", "-o", "r.dpr"],
                     stderr=subprocess.STDOUT)
print("exit", run.returncode)
PYTHON
ls
