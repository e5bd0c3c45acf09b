# A store, a table of Arrow and a database know their columns: options that say how text is read are
# refused for them, not ignored. Where another input is a table, the options are for that one.
# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_model m
printf 'user,item,rating\nann,dune,5\nbob,dune,3\nann,alien,2\n' >r.csv
dpmf import -q r.csv -o r.dpr
dpmf shard -q r.dpr --parts 2 -o shards
python3 -c 'import sqlite3
d = sqlite3.connect("r.db")
d.executescript("CREATE TABLE ratings (user, item, rating); INSERT INTO ratings VALUES (1, 7, 4)")'
try() { dpmf "$@"; echo "exit $?"; }
try import r.dpr --columns item,user,rating -o never.dpr
try import r.dpr --rating-range 1:5 --separator ';' -o never.dpr
try describe r.dpr --user-column who
try describe shards --columns user,item,rating
try describe shards --time-column when
try export r.dpr --item-column sku --csv never.csv
try train r.dpr --rating-column stars -o never
try evaluate m r.dpr --history r.dpr --columns user,item,rating
try recommend m --ratings r.dpr --columns item,rating
try import sqlite:r.db?table=ratings --separator ';' -o never.dpr
try import - --format arrow --separator ';' -o never.dpr </dev/null
ls
printf 'dune,bob,4\n' >t.csv
dpmf import -q r.dpr t.csv --columns item,user,rating -o both.dpr && dpmf export -q both.dpr --csv -
dpmf evaluate m t.csv --history r.dpr --columns item,user,rating -q --json | grep -o '"n":[0-9]*'
dpmf evaluate m r.dpr --history t.csv --columns item,user,rating -q --json | grep -o '"n":[0-9]*'
dpmf predict m t.csv --history r.dpr --columns item,user,rating -q
