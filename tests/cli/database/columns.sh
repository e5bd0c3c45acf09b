# --columns, and several inputs of several kinds
python3 "$CLI_TESTS/database/make_database.py"
printf 'user,item,rating\ncleo,dune,1\n' >more.csv
dpmf import -q --columns _,user,item,rating \
    'sqlite:ratings.db?query=SELECT id, user_id, movie_id, rating FROM ratings' -o r.dpr
dpmf import -q more.csv r.dpr 'sqlite:ratings.db?table=ratings' -o all.dpr &&
    dpmf export -q all.dpr --csv -
