# The defaults are for every scale: the same set, a hundred times as wide, is learned as well.
dpmf synth -q --users 300 --items 60 --ratings 6000 --scale 1:5 -o narrow.dpr
dpmf export -q narrow.dpr --csv - |
    awk -F, 'NR == 1 { print } NR > 1 { print $1 "," $2 "," 64 * $3 }' >wide.csv
dpmf train -q --deterministic narrow.dpr -o n.safetensors
dpmf train -q --deterministic wide.csv -o w.safetensors
dpmf evaluate -q n.safetensors narrow.dpr --json | sed -E 's/.*"rmse":([0-9.]+).*/\1/' >n
dpmf evaluate -q w.safetensors wide.csv --json | sed -E 's/.*"rmse":([0-9.]+).*/\1/' >w
paste n w | awk '{ print ($2 / $1 > 63.9 && $2 / $1 < 64.1) ? "alike" : "not alike: " $0 }'
