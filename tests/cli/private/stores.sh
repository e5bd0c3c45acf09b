# A store is taken when it says that each record was read by itself; else the error is the command
# that would do it
dpmf ledger init -q l
printf 'item\na\nb\n' >items
printf 'u,a,4\nv,b,3\n' >r.csv
{ echo user,item,rating; cat r.csv; } >named.csv
try() {
    dpmf train --replace -q "$1" --epsilon 1 --rating-range 1:5 --catalogue items \
        --ledger l -o x.safetensors
    echo $?
}
dpmf import -q r.csv --on-error skip -o r.dpr
try r.dpr
dpmf import -q named.csv -o r.dpr
try r.dpr
cp "$CLI_TESTS/fixtures/v0.1.0.dpr" r.dpr
dpmf describe -q r.dpr --json | grep -o "\"users\":[0-9]*"
try r.dpr
dpmf import -q r.csv --format csv --separator , --columns user,item,rating --on-error skip -o r.dpr
try r.dpr
dpmf import -q named.csv --on-error skip -o r.dpr
try r.dpr
dpmf shard -q r.dpr --parts 2 -o shards
try shards
dpmf import -q shards r.csv --on-error skip -o both.dpr
try both.dpr
