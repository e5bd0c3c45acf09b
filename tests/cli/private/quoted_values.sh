# What SQLite says of an error at a row may quote a value: a private run shows the kind of error
# alone. What it says of the query and the schema quotes nobody.
command -v python3 >/dev/null || { echo "needs python3" && exit 77; }
dpmf ledger init -q l
printf 'item\na\nb\n' >items
python3 - <<'PYTHON' || exit 77
import sqlite3
base = sqlite3.connect("r.db")
base.execute("create table ratings (user, item, rating)")
base.execute("insert into ratings values ('ann', 'a', 'my secret')")
base.commit()
try:
    base.execute("select json_extract('{}', rating) from ratings").fetchall()
except sqlite3.OperationalError as error:
    raise SystemExit("secret" not in str(error) and str(error))
PYTHON
query="sqlite:r.db?query=SELECT user, item, json_extract('{}', rating) AS rating FROM ratings"
dpmf import -q "$query" -o r.dpr >said 2>&1
echo "status $?, $(grep -c 'my secret' said) with the value"
private() {
    dpmf train -q "$1" --epsilon 1 --rating-range 1:5 --catalogue items --ledger l \
        -o x.safetensors >said 2>&1
    echo "status $?, $(grep -c 'secret' said) with the value"
    grep 'error:' said
    test ! -e x.safetensors && echo "no release"
}
private "$query"
private "sqlite:r.db?table=nothing"
