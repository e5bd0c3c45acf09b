# --replace replaces what dpmf made. What may be someone's stays as it is: a database with a table
# of theirs, a text.
command -v python3 >/dev/null || { echo "no python3 here"; exit 77; }
cp "$CLI_TESTS/fixtures/release.safetensors" .
sql() { python3 -c \
    'import sqlite3, sys; c = sqlite3.connect(sys.argv[1])
c.executescript(sys.argv[2]); c.close()' "$@"; }
try() { # try FILE...: the export, and whether the files are what they were
    cksum "$@" >before
    dpmf export -q release.safetensors "--$form" "$1" --replace
    echo "status $?, $(cksum "$@" | cmp -s - before && echo as it was || echo replaced)"
}
form=sqlite
sql theirs.db 'CREATE TABLE precious (a); INSERT INTO precious VALUES (1)'
try theirs.db
echo 'my notes' >notes.txt
try notes.txt
dpmf export -q release.safetensors --sqlite ours.db
cp ours.db added.db
cp ours.db wal.db
sql ours.db "UPDATE items SET title = 'another'"
try ours.db
sql added.db 'CREATE TABLE precious (a)'
try added.db
sql wal.db 'PRAGMA journal_mode = WAL'
try wal.db
head -c 5000 ours.db >cut.db
try cut.db
sql like_ours.db 'CREATE TABLE model (a); CREATE TABLE statement (a); CREATE TABLE provenance (a);
    CREATE TABLE items (a); CREATE TABLE item_vectors (a)'
try like_ours.db
# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_model m.safetensors
dpmf export -q m.safetensors --sqlite with_users.db --not-private --users
try with_users.db

form=libmf
try notes.txt
try theirs.db
printf 'f m\nsome other text\n' >f.txt
try f.txt
dpmf export -q m.safetensors --libmf m.txt --not-private --users
try m.txt m.txt.items.txt
echo mine >alone.items.txt
try alone alone.items.txt 2>&1 | grep -v cksum
rm -f alone
cp m.txt.items.txt alone.items.txt # as a killed export leaves them
try alone alone.items.txt 2>&1 | grep -v cksum
ls
