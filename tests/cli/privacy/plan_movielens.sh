dpmf privacy plan --users 6040 --items 3883 --ratings-per-user 150
dpmf privacy plan --users 6040 --items 3883 --ratings-per-user 150 --item-features --epsilon 1
