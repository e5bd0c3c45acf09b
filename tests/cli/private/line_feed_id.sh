# No list of wishes can name an id with a line feed or a carriage return: whoever has one could not
# opt out, and so is left out
dpmf ledger init -q l
printf 'item\na\n' >items
printf '{"user":"%s","item":"a","rating":3}\n' u1 'u1\n' 'u\n1' 'u\r3' u2 >r.jsonl
python3 - <<'PYTHON'
import sqlite3
database = sqlite3.connect("r.db")
database.execute("CREATE TABLE ratings (user, item, rating)")
database.executemany("INSERT INTO ratings VALUES (?, 'a', 3)",
                     [("u1",), ("u1\n",), ("u\n1",), ("u\r3",), ("u2",)])
database.commit()
PYTHON
dpmf import -q r.jsonl --format jsonl --on-error skip -o r.dpr
try() {
    dpmf train --replace \
        -q --epsilon 1 --rating-range 1:5 --catalogue items --ledger l -o x.safetensors \
        --json "$@" |
        grep -o '"users":[0-9]*\|"users_left_out":[0-9]*' | tr '\n' ' '
    echo
}
printf 'user,epsilon\nu1,0\n' >wishes
for ratings in 'r.jsonl --format jsonl' 'sqlite:r.db?table=ratings' r.dpr; do
    # shellcheck disable=SC2086 # several words
    try $ratings
    # shellcheck disable=SC2086
    try $ratings --user-privacy wishes
done
