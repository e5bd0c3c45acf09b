umask 022
dpmf synth -q --users 100 --items 50 --ratings 1000 --truth t.safetensors --catalog-out c.csv \
    --timestamps -o r.dpr
head -c 9 t.safetensors | tail -c 1; echo
wc -l <c.csv
dpmf describe r.dpr --json | grep -o '"has_times":[a-z]*'
stat -c '%a %n' r.dpr t.safetensors
