dpmf privacy plan --users 6040 --items 3883 --ratings-per-user 150 --epsilon 1,5 --json |
    sed -E 's/([0-9]\.[0-9]{9})[0-9]+/\1/g'
dpmf privacy plan --users 10 --items 20 --ratings-per-user 3 --epsilon 1 --json |
    sed -E 's/([0-9]\.[0-9]{9})[0-9]+/\1/g'
