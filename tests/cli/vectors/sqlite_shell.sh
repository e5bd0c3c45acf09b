# SQLite's shell sees the tables, the bytes of the floats, and the statement.
command -v sqlite3 >/dev/null || { echo "no sqlite3 here"; exit 77; }
printf 'item,title\ndune,Dune\nalien,"Alien, again"\n' >items.csv
dpmf export "$CLI_TESTS/fixtures/release.safetensors" --sqlite a.sqlite --catalogue items.csv -q
sqlite3 a.sqlite .schema \
    "SELECT number, id, title, bias, hex(vector) FROM items JOIN item_vectors USING (number)" \
    "SELECT * FROM model WHERE field <> 'statement'" \
    "SELECT * FROM statement WHERE field IN ('epsilon', 'delta', 'releases.1.sigma', 'insecure', \
'declared_users')" \
    "SELECT count(*) FROM statement" "PRAGMA integrity_check"
