# A view with a quote in its name
python3 "$CLI_TESTS/database/make_database.py"
dpmf export -q 'sqlite:ratings.db?table=odd "name' --csv -
