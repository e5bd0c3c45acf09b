# More ratings than pairs of a user and an item.
dpmf synth --users 10 --items 10 --ratings 101 -o r.dpr
