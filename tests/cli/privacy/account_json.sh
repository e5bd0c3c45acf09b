# Digits beyond the tenth are left to the machine.
dpmf privacy account --epsilon 5 --json | sed -E 's/([0-9]\.[0-9]{9})[0-9]+/\1/g'
dpmf privacy account --releases 1,2 --json | sed -E 's/([0-9]\.[0-9]{9})[0-9]+/\1/g'
