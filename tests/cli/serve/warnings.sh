# An address that others can reach, and a release whose list of items is not covered: both are said.
dpmf ledger init -q ledger
dpmf synth -q --users 300 --items 30 --ratings 3000 -o r.dpr
dpmf train -q r.dpr --epsilon 5 --rating-range 1:5 --catalogue-from-ratings --ledger ledger \
    -o release.safetensors 2>/dev/null
dpmf serve release.safetensors --port 0 --address 0.0.0.0 >url 2>said &
server=$!
until [[ -s url ]]; do sleep 0.05; done
sed -E 's/:[0-9]+/:PORT/' url
sleep 0.2
kill "$server"
wait "$server"
grep warning said
