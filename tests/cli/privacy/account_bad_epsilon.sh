dpmf privacy account --epsilon 0
