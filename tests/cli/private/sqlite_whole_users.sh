# A column of SQLite holds what was stored in it, whatever it was declared as. In one of whole
# numbers a text is a bad record, by itself; texts that stand for a number have become one when
# they were stored, with blanks around them or not. A wish is a whole number, or a mistake.
dpmf ledger init -q l
printf 'item\na\n' >items
python3 - <<'PYTHON'
import sqlite3
database = sqlite3.connect("r.db")
database.execute("CREATE TABLE r (user INTEGER, item TEXT, rating REAL)")
database.executemany("INSERT INTO r VALUES (?, 'a', 3)", [
    (user, ) for user in (12, " 13", "14 ", "015", "16.0", -17, "", " ", "ann", "12a", b"12", 1.5,
                          None, "\u00a012", 2**63 - 1, "9" * 30)])
database.commit()
PYTHON
dpmf import -q 'sqlite:r.db?table=r' --on-error skip -o r.dpr
dpmf export -q r.dpr --csv - | sort
dpmf import -q 'sqlite:r.db?query=SELECT * FROM r WHERE user = '"'ann'" -o none.dpr
for wish in 12 012 +13 14 -17 18 ' 12' 12.0 ann; do
    printf 'user,epsilon\n"%s",0\n' "$wish" >wishes.csv
    for input in 'sqlite:r.db?table=r' r.dpr; do
        dpmf train -q --replace "$input" --epsilon 1 --rating-range 1:5 --catalogue items \
            --user-privacy wishes.csv --ledger l -o x.safetensors --json >said 2>err
        echo "$input $wish: $?" \
            "$(grep -o '"users_left_out":[0-9]*\|"wishes_of_nobody":[0-9]*' said | paste -sd ' ')"
        grep '^dpmf: error' err
    done
done
