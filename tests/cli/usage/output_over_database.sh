# A database that is read is not written over, by whatever name its address calls it
python3 - <<'PYTHON'
import sqlite3
database = sqlite3.connect("s.db")
database.execute("CREATE TABLE ratings (user, item, rating)")
database.executemany("INSERT INTO ratings VALUES (?, ?, ?)", [(1, 2, 3), (1, 3, 4), (2, 2, 5)])
database.commit()
PYTHON
ln -s s.db link.db
cp s.db before
printf 'user,item,rating\n1,2,3\n' >r.csv
try() {
    "$@"
    echo "exit $?"
}
try dpmf import 'sqlite:s.db?table=ratings' -o s.db
try dpmf import 'SQLITE:./s%2Edb?table=ratings' -o link.db
try dpmf train 'sqlite:s.db?table=ratings' -o s.db
try dpmf train r.csv --valid 'sqlite:s.db?table=ratings' -o s.db
try dpmf split 'sqlite:s.db?table=ratings' --train s.db --test test.dpr
try dpmf describe 'sqlite:s.db?table=ratings' --plot s.db
mkdir folder
cp s.db folder/ratings.csv
try dpmf export 'sqlite:folder/ratings.csv?table=ratings' --csv folder
cmp s.db before && cmp folder/ratings.csv before && ls
