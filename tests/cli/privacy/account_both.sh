dpmf privacy account --epsilon 1 --mu 0.2
