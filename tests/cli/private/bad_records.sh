# How many bad records were dropped is told, by --json too where -q keeps the rest back; of a store
# as it is nobody knows
dpmf ledger init -q l
printf 'item\n1\n2\n3\n' >items
printf 'user,item,rating\na,1,3\nb,2,4\nc,,4\nd,1,many\n' >r.csv
train() {
    dpmf train --replace \
        "$@" --epsilon 1 --rating-range 1:5 --catalogue items --ledger l -o x.safetensors \
        --json 2>notes | grep -o '"bad_records":[^,]*'
    sed -n 's/.*\(bad records.*\)/\1/p' notes
}
train -q r.csv
train r.csv
dpmf export -q r.csv --on-error skip --csv - >good.csv
train -q good.csv
dpmf import -q r.csv --columns user,item,rating --on-error skip -o r.dpr
train -q r.dpr
