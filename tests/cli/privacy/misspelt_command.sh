dpmf privacy acount --epsilon 1
