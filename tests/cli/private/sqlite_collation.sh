# Users that a database takes for equal in several spellings are several here, and a wish finds one
# of them: such a release is not called proven.
dpmf ledger init -q l
printf 'item\na\n' >items
printf 'user,epsilon\nann,0\n' >wishes
python3 - <<'PYTHON'
import sqlite3
database = sqlite3.connect("r.db")
for name, kind in (("plain", "TEXT"), ("binary", "TEXT COLLATE BINARY"),
                   ("any_case", "TEXT COLLATE NOCASE"), ("trimmed", "TEXT COLLATE RTRIM")):
    database.execute(f'CREATE TABLE "{name}" (user {kind}, item TEXT COLLATE NOCASE, rating)')
    database.executemany(f'INSERT INTO "{name}" VALUES (?, ?, ?)',
                         [("Ann", "a", 3), ("ann", "a", 4)])
database.commit()
PYTHON
for table in plain binary any_case trimmed main.any_case main.plain; do
    dpmf train "sqlite:r.db?table=$table" --epsilon 1 --rating-range 1:5 --catalogue items \
        --user-privacy wishes --ledger l --replace --json -q -o x.safetensors 2>/dev/null |
        grep -o '"kind":"[a-z]*"' | sed "s/^/$table: /"
done
