# Wishes take part in an audit, and a list that a run would refuse is refused.
dpmf synth -q --users 60 --items 40 --ratings 900 --catalogue-out items.csv -o ratings.dpr
printf 'user,epsilon\n1,0.5\n2,0\n' >wishes.csv
audit() {
    dpmf audit -q ratings.dpr --epsilon 1 --rating-range 1:5 --catalogue items.csv --runs 3 \
        --confidence 0.9999 \
        --user-privacy "$1" --json
}
{ audit wishes.csv || audit wishes.csv; } | grep -o '"accused":[a-z]*,"findings":[^]]*.'
printf 'user,epsilon\n1,0.5,7\n' >wishes.csv
audit wishes.csv
