# A quote that is left open harms its own line: neither the next quote nor 10,000 lines of others
# are part of it
dpmf ledger init -q l
printf 'item\n2\n' >items
lines() { seq -f 'u%.0f,2,3' "$1" "$2"; }
try() {
    dpmf train --replace \
        r.csv --epsilon 1 --rating-range 1:5 --catalogue items --ledger l -o x.safetensors \
        --json 2>&1 |
        grep -o 'bad records.*\|"users":[0-9]*,"ratings":[0-9]*'
}
{ echo user,item,rating; lines 1 10000; echo '"ann, b.",2,4'; lines 10001 10010; } >r.csv
try
{ echo user,item,rating; echo '"evil,2,3'; lines 1 10000; echo '"ann, b.",2,4'; lines 10001 10010
} >r.csv
try
{ echo user,item,rating; lines 1 50; echo '"evil,2,3'; lines 51 100; echo 'evil",2,3'
lines 101 110; } >r.csv
try
