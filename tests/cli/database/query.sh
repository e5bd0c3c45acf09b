# A query, percent-decoded; its names count, not their order
python3 "$CLI_TESTS/database/make_database.py"
dpmf import -q \
    "sqlite:ratings.db?query=SELECT rating, movie_id AS item, user_id FROM ratings WHERE movie_id \
LIKE '%25 %26 %25';" \
    -o r.dpr && dpmf export -q r.dpr --csv -
dpmf export -q 'sqlite:ratings.db?query=SELECT%20user_id, movie_id, rating FROM ratings LIMIT 1' \
    --csv -
