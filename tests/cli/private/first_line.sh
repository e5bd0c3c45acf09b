# A first line that names the columns otherwise than they were declared is passed over, as it may be
# someone's record, and said whatever is silenced: where users and items change places, nothing
# holds.
dpmf ledger init -q l
printf 'item\na\nb\nc\n' >items
printf 'item,user,rating\na,b,4\nb,a,3\n' >r.csv
try() { dpmf train --replace -q r.csv --format csv --separator , --columns "$1" --epsilon 1 \
    --rating-range 1:5 --catalogue items --ledger l -o x.safetensors; }
try user,item,rating
try item,user,rating
dpmf import r.csv --format csv --separator , --columns user,item,rating -o r.dpr 2>&1 | grep warning
