# A table with the usual names: integers are ids in decimal, any text is one, and so are times
python3 "$CLI_TESTS/database/make_database.py"
dpmf import -q 'sqlite:ratings.db?table=ratings' -o r.dpr && dpmf export -q r.dpr --csv -
