dpmf privacy account --epsilon 1 --delta 0.7
