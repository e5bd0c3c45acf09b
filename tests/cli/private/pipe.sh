# A pipe is read once, whatever it holds, and nothing of it is lost
dpmf ledger init -q l
printf 'item\ni1\ni2\n' >items
{ echo user,item,rating; for u in $(seq 20000); do echo "someone$u,i1,$((1 + u % 5))"; done
} >r.csv
gzip -k r.csv
try() {
    dpmf train --replace \
        "$@" --epsilon 1 --rating-range 1:5 --catalogue items --ledger l -o x.safetensors \
        --json 2>/dev/null |
        grep -o '"users":[0-9]*,"ratings":[0-9]*'
}
try r.csv
try <(cat r.csv)
try <(cat r.csv.gz)
cat r.csv | try -
cat r.csv.gz | try -
tail -n +2 r.csv | try - --format csv --separator , --columns user,item,rating
mkfifo fifo
cat r.csv >fifo &
try fifo
