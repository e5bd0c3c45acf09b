# Usual names of times are times, unless another column is; what is not used is said.
for name in created_at createdAt rated_at unix_time event_time rating_timestamp; do
    printf 'user,item,rating,%s\n1,2,3,1577836800\n' "$name" >x.csv
    dpmf import x.csv -o x.dpr --replace 2>&1 | grep 'not used'
    dpmf export -q x.dpr --csv -
done
printf 'user,item,title,rating,timestamp,created_at,\n1,2,Dune,3,1577836800,none,0\n' >x.csv
dpmf import x.csv -o x.dpr --replace 2>&1 | grep 'not used'
dpmf export -q x.dpr --csv -
python3 -c '
import sqlite3
shop = sqlite3.connect("shop.db")
shop.executescript("""CREATE TABLE ratings (user_id, item_id, rating, rated_at, note);
    INSERT INTO ratings VALUES (1, 2, 4.5, 1577836800, 7)""")'
dpmf import 'sqlite:shop.db?table=ratings' -o x.dpr --replace 2>&1 | grep 'not used'
dpmf export -q x.dpr --csv -
