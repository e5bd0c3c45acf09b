# One word among numbers is most likely a header that nobody knows; it would be an item.
dpmf synth -q --users 80 --items 20 --ratings 900 -o r.dpr
{ echo artikel; seq 1 20; } >list.csv
{ echo item; seq 1 20; } >named.csv
private=(dpmf train r.dpr --epsilon 1 --rating-range 1:5 --insecure-noise-seed 1 --progress never)
"${private[@]}" --catalogue list.csv -o a.safetensors 2>&1 | grep header
"${private[@]}" --catalogue named.csv -o b.safetensors 2>&1 | grep header
dpmf describe a.safetensors --json | grep -o '"items":[0-9]*'
dpmf describe b.safetensors --json | grep -o '"items":[0-9]*'
