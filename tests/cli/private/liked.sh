# What made events of ratings is in the statement, wherever it was said.
dpmf ledger init -q l
dpmf synth -q --users 60 --items 20 --ratings 900 --catalogue-out items.csv -o r.dpr
echo another,x >>items.csv
try() {
    dpmf train --replace -q "$@" --epsilon 1 --catalogue items.csv --ledger l -o x.safetensors
    dpmf privacy verify -q x.safetensors >/dev/null || echo "not verified"
    dpmf privacy show x.safetensors --json | grep -o '"goal":"ranking".*"items"'
    dpmf privacy show x.safetensors | grep -A 1 'What is an event'
    dpmf privacy show x.safetensors --registry |
        grep -o ' Events are what.*more\.\| Events were made.*gave[^.]*\.'
}
try r.dpr --like 3.5
try r.dpr --like any
dpmf import -q r.dpr --like 4 --on-error skip -o four.dpr
dpmf import -q r.dpr --like 3 --on-error skip -o three.dpr
try four.dpr
dpmf shard -q four.dpr --parts 2 -o shards
try shards
dpmf import -q four.dpr three.dpr --on-error skip -o both.dpr
try both.dpr
printf 'user,item\nann,1\nbob,2\n' >events.csv
try events.csv
dpmf import -q r.dpr --like inf -o x.dpr
