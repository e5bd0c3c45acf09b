# A delta that would allow exposing one of the users is said to be refused, as train does.
for users in 1000000 50000; do
    dpmf privacy plan --items 3700 --ratings-per-user 165 --users $users --epsilon 1 --delta 1e-5 |
        grep -c residual
done
dpmf privacy plan --items 3700 --ratings-per-user 165 --users 1000000 --epsilon 1 --json |
    grep -c mu
