# Too few users for factors, and for this delta.
dpmf privacy plan --users 100 --items 50 --ratings-per-user 10 --epsilon 0.1,1 --delta 0.01 \
    --rating-range -10:10
