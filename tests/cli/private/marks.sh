# Files that were put together have byte order marks in the middle, which nobody sees: the person
# behind one would be another user, whom no wish names.
dpmf ledger init -q l
mark=$'\xef\xbb\xbf'
printf 'item\na\nb\nc\n' >items
printf '%suser,item,rating\nann,a,4\n%sbob,b,3\ncarl,b,2\n' "$mark" "$mark" >r.csv
try() { dpmf train --replace \
    -q r.csv --epsilon 1 --rating-range 1:5 --catalogue items --ledger l --json \
    -o x.safetensors "$@" | grep -o '"users":[0-9]*'; }
try
printf 'user,epsilon\nann,0\n%sbob,0\n' "$mark" >wishes
try --user-privacy wishes
printf 'user,epsilon\nann,0\n"%sbob",0\n' "$mark" >wishes
try --user-privacy wishes
printf 'item\na\n%sb\nc\n' "$mark" >items
try
dpmf import -q r.csv -o r.dpr
