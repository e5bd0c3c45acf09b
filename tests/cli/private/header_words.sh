# A header in words that are not known is not guessed, and refused on grounds of that line alone:
# it may be someone's record, so none of its words is shown. Declared columns say what is what.
dpmf ledger init -q l
printf 'item\na\nb\n' >items
printf 'titre,auditeur,note\na,u,4\nb,v,3\n' >words.csv
printf 'alice,thematrix,good\na,u,4\n' >record.csv
printf 'titre:token\tauditeur:token\nb\tv\n' >words.inter
printf 'user,userid,item,rating\nu,u,a,4\n' >twice.csv
printf 'song,listener\na,u\nb,v\n' >events.csv
try() {
    dpmf train -q --replace --epsilon 1 --catalogue items --ledger l -o x.safetensors "$@"
    echo "$?"
}
try words.csv --rating-range 1:5
try words.csv --rating-range 1:5 --format csv --separator ,
try record.csv --rating-range 1:5
try words.inter
try twice.csv --rating-range 1:5
try events.csv
try words.csv --rating-range 1:5 --format csv --separator , --columns item,user,rating
# the order that the one known word speaks against
try events.csv --format csv --separator , --columns user,item
try events.csv --format csv --separator , --columns item,user
