# Wherever ratings are read: the same store as from text, but for what its header says of the
# reading, and the same model
python3 - <<'PYTHON'
import csv, random, sqlite3
random.seed(1)
pairs = dict.fromkeys((random.randrange(200), "i%d" % random.randrange(50)) for _ in range(5000))
rows = [(*pair, random.randrange(1, 11) / 2) for pair in pairs]
database = sqlite3.connect("r.db")
database.execute("CREATE TABLE ratings (user, item, rating)")
database.executemany("INSERT INTO ratings VALUES (?, ?, ?)", rows)
database.commit()
with open("r.csv", "w", newline="") as out:
    csv.writer(out).writerows([("user", "item", "rating"), *rows])
PYTHON
dpmf import -q r.csv -o text.dpr
for threads in 1 4; do
    dpmf import -q -j $threads 'sqlite:r.db?table=ratings' -o r.dpr && cmp -i 64 text.dpr r.dpr
done
dpmf describe -q 'sqlite:r.db?table=ratings' --json | grep -o '"users":[0-9]*'
dpmf split -q 'sqlite:r.db?table=ratings' --train a.dpr --test b.dpr
dpmf train -q --deterministic -k 4 --epochs 2 'sqlite:r.db?table=ratings' -o db.safetensors
dpmf train -q --deterministic -k 4 --epochs 2 r.csv -o text.safetensors
cmp db.safetensors text.safetensors
dpmf evaluate -q db.safetensors 'sqlite:r.db?table=ratings' --json | cut -c 1-8
dpmf predict -q db.safetensors \
    'sqlite:r.db?query=SELECT 7 AS user, item, rating FROM ratings LIMIT 2' | wc -l
