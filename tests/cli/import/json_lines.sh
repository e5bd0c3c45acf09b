printf '%s\n' '{"user":"ann","item":"dune","rating":4.5}' $' \t \r' '' \
    '{"item":"x","rating":2,"user":7,"timestamp":100}' >in.csv
dpmf import -q in.csv  -o r.dpr && dpmf export -q r.dpr --csv -
