# Queries that cannot be run, or give something else than ratings
python3 "$CLI_TESTS/database/make_database.py"
for what in 'query=SELECT user_id, movie_id, rating, note FROM ratings' 'query=SELECT 1' \
    'query=SELECT' \
    'query=SELECT rating, user_id, note FROM ratings' 'table=nothing' 'table=other' 'table=twice' \
    'table=graded' \
    'query=SELECT user, item, rating FROM empty' 'table=empty' 'query=-- nothing' \
    'table=main.ratings.x'; do
    dpmf import "sqlite:ratings.db?$what" -o r.dpr
    echo "exit $?"
done
ls
