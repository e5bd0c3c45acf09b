# Inputs that spell ids differently, by their formats and schemas: 7 and 007 may be one person, who
# would count twice, and whose wish would leave one of the two in. The ids decide nothing.
dpmf ledger init -q l
printf 'item\na\n1\n' >items
printf 'user,epsilon\n7,0\n' >wishes
mkdir alike
printf '{"user":7,"item":"a","rating":4}\n' >r.jsonl
printf 'user,item,rating\n007,a,4\n' >alike/one.csv
printf 'user\titem\trating\n7\ta\t4\n' >alike/two.tsv
printf '7 1 4\n' >r.libmf
python3 - <<'PYTHON'
import sqlite3
database = sqlite3.connect("r.db")
for name, kind in (("numbers", "BIGINT"), ("texts", "VARCHAR(20)"), ("other", ""),
                   ("either", "STRING"), ("blobs", "BLOB"), ("any", "ANY")):
    database.execute(f"CREATE TABLE {name} (user {kind}, item, rating)")
    database.execute(f"INSERT INTO {name} VALUES ('ann', 'a', 3)")
database.execute("CREATE TABLE strict (user ANY, item ANY, rating ANY) STRICT")
database.execute("INSERT INTO strict VALUES ('007', 'a', 3)")
database.execute("INSERT INTO either VALUES (' 7', 'a', 3)")
database.commit()
PYTHON
dpmf import -q r.libmf --format libmf --on-error skip -o numbers.dpr
dpmf import -q r.jsonl --format jsonl --on-error skip -o each.dpr
dpmf import -q alike/one.csv --on-error skip -o texts.dpr
try() {
    dpmf import -q --on-error skip -o all.dpr "$@"
    dpmf describe all.dpr | grep -o 'private runs.*'
    dpmf train --replace -q all.dpr --epsilon 1 --rating-range 1:5 --catalogue items \
        --user-privacy wishes --ledger l -o x.safetensors >/dev/null 2>err
    echo "$*: $?"
    grep '^dpmf: error' err
}
try texts.dpr numbers.dpr
try texts.dpr each.dpr
try each.dpr
try alike/one.csv alike/two.tsv
try texts.dpr 'sqlite:r.db?table=numbers'
printf 'user_id:token\titem_id:token\trating:float\n"7"\ta\t4\n' >r.inter
dpmf import -q r.inter --format inter --on-error skip -o bare.dpr
try texts.dpr bare.dpr
try bare.dpr
try numbers.dpr 'sqlite:r.db?table=numbers'
try texts.dpr 'sqlite:r.db?table=texts'
try texts.dpr 'sqlite:r.db?table=other'
try 'sqlite:r.db?table=other' 'sqlite:r.db?table=blobs'
try 'sqlite:r.db?table=either'
try 'sqlite:r.db?table=any' 'sqlite:r.db?table=either'
try 'sqlite:r.db?table=strict' 'sqlite:r.db?table=other'
try 'sqlite:r.db?table=strict' 'sqlite:r.db?table=any'
printf 'user,epsilon\n" 7 ",0\n' >wishes
dpmf train --replace -q 'sqlite:r.db?table=either' --epsilon 1 --rating-range 1:5 \
    --catalogue items --user-privacy wishes --ledger l -o x.safetensors --json |
    grep -o '"users_left_out":[0-9]*\|"wishes_of_nobody":[0-9]*'
try 'sqlite:r.db?table=other' 'sqlite:r.db?table=either'
