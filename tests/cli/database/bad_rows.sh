# What is wrong with a row, and where; skipped when asked for
python3 "$CLI_TESTS/database/make_database.py"
for row in 2 3 4 5 6 7 8 9 10 11; do
    dpmf import \
        "sqlite:ratings.db?query=SELECT user, item, rating FROM bad WHERE rowid IN (1, $row)" \
        -o r.dpr
    echo "exit $?"
done
ls
dpmf import -q --on-error skip --json 'sqlite:ratings.db?table=bad' -o r.dpr |
    grep -o '"skipped":[0-9]*'
dpmf export -q r.dpr --csv -
