dpmf privacy account --epsilon 1
