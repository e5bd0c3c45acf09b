# A plain table of a database is read row by row. A query or a view may let rows decide about
# others, so what is made of it is partial, and that is said whatever is silenced.
command -v python3 >/dev/null || { echo "needs python3" && exit 77; }
dpmf ledger init -q l
printf 'item\na\nb\nnobody\n' >items
python3 - <<'PYTHON' || exit 77
import sqlite3
base = sqlite3.connect("r.db")
base.execute("create table Ratings (user, item, rating)")
base.executemany("insert into Ratings values (?, ?, ?)",
                 [(f"u{i}", "ab"[i % 2], 1 + i % 5) for i in range(9)])
base.execute("create table \"it's\" as select * from Ratings")
base.execute("create view seen as select user, item, (select count(*) from Ratings) % 5 + 1 "
             "as rating from Ratings")
base.commit()
PYTHON
try() {
    dpmf train -q "$@" --epsilon 1 --rating-range 1:5 --catalogue items --ledger l --json \
        --replace -o x.safetensors 2>said |
        grep -o '"kind":"[a-z ]*","assumptions":[^]]*]'
    cat said
}
try "sqlite:r.db?table=ratings"
try "sqlite:r.db?table=main.RATINGS"
try "sqlite:r.db?table=it's"
try "sqlite:r.db?table=seen"
dpmf privacy verify -q x.safetensors 2>&1 >/dev/null | head -1
dpmf privacy verify -q x.safetensors --accept partial >/dev/null && echo accepted
dpmf privacy show x.safetensors | sed -n '3,8p'
dpmf privacy show x.safetensors --json | grep -o '"from_query":[a-z]*'
dpmf privacy show x.safetensors --registry |
    grep -c 'A query, a view or functions of a database gave the ratings'
try "sqlite:r.db?query=SELECT user, item, rating FROM Ratings"
# A store keeps it, and so does whatever is made of that
dpmf import -q "sqlite:r.db?table=seen" --on-error skip -o r.dpr
dpmf describe -q r.dpr --json | grep -o '"by_record":[a-z]*,"queried":[a-z]*'
dpmf import -q "sqlite:r.db?table=ratings" r.dpr --on-error skip -o both.dpr
try both.dpr
dpmf shard -q both.dpr --parts 2 -o shards
try shards
# A column that is computed as it is read is a query too: one row can make that fail. One that is
# beside what is read changes nothing.
python3 - <<'PYTHON'
import sqlite3
base = sqlite3.connect("g.db")
base.execute("create table ratings (user, item, r0 int)")
base.executemany("insert into ratings values (?, ?, ?)",
                 [(f"u{i}", "ab"[i % 2], 1 + i % 5) for i in range(9)])
base.execute("create table beside as select user, item, r0 as rating from ratings")
base.execute("alter table ratings add column Rating as (abs(r0))")
base.execute("alter table beside add column double as (abs(rating))")
base.execute("create table kept (user, item, r0 int, rating as (r0 + 0) stored)")
base.execute("insert into kept (user, item, r0) values ('u', 'a', 1)")
base.commit()
PYTHON
for table in ratings main.RATINGS kept beside main.beside; do try "sqlite:g.db?table=$table" |
    cut -c1-74; done
